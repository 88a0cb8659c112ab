// The languages of the game page. English is in the page; another language is one file with the same
// members (LanguageFile), a row here, and is fetched before anything is said.
import type { Words } from './words.ts';
import type { LaterWords } from './words_later.ts';

export interface LanguageFile {
    words: Words;
    laterWords: LaterWords;
}

export type Language = 'en';

interface Row {
    name: string; // as those who speak it call it
    load: (() => Promise<LanguageFile>) | null; // null: it is in the page
}

export const LANGUAGES: Record<Language, Row> = { en: { name: 'English', load: null } };

export function chosenLanguage(): Language {
    try {
        const kept = JSON.parse(localStorage.getItem('sandlot.settings') ?? '{}') as unknown;
        const wish = (kept as { language?: unknown } | null)?.language;
        return (Object.keys(LANGUAGES) as Language[]).find((each) => each === wish) ?? 'en';
    } catch {
        return 'en';
    }
}

let spoken: LanguageFile | null = null; // null: English

export const laterWordsOf = (english: LaterWords): LaterWords => spoken?.laterWords ?? english;

// From now on these tables, all of `words` or parts of it, speak that language; English if it does not come.
export async function speak(language: Language, ...tables: Partial<Words>[]): Promise<void> {
    spoken = await LANGUAGES[language].load?.().catch(() => null) ?? null;
    const said = spoken?.words;
    for (const table of said === undefined ? [] : tables) {
        Object.assign(table, Object.fromEntries(Object.keys(table).map((member) => [member, said?.[member as keyof Words]])));
    }
}

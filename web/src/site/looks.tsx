// One's characters: names and colours, with a picture of the one that is chosen.
import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

import type { Preview } from '../play/preview.ts';
import { send } from './api.ts';
import type { Session } from './api.ts';
import { sayFailure } from './forms.tsx';
import { Trouble, useLoaded } from './parts.tsx';
import { words as site } from './words.ts';
import { words } from './words_account.ts';

export interface Character {
    character_id: string;
    name: string;
    body: number;
    colour_skin: number;
    colour_shirt: number;
    colour_legs: number;
}
interface Profiles {
    active: string;
    profiles: Character[];
}

const CHARACTERS_MAX = 16;
const COLOURS = [['colour_skin', words.looks.skin], ['colour_shirt', words.looks.shirt],
    ['colour_legs', words.looks.legs]] as const;
const hex = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;

// Drawn by the game's own code, which is fetched for it once the picture is in sight.
function Picture({ look }: { look: Character }): JSX.Element {
    const canvas = useRef<HTMLCanvasElement>(null);
    const preview = useRef<Preview | null>(null);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
        let ended = false;
        const start = async (): Promise<void> => {
            const { startPreview } = await import('../play/preview.ts');
            if (!ended && canvas.current !== null) {
                preview.current = startPreview(canvas.current);
                preview.current.show(look);
            }
        };
        const watch = new IntersectionObserver((entries) => {
            if (entries.some(({ isIntersecting }) => isIntersecting)) {
                watch.disconnect();
                start().catch(() => setFailed(true));
            }
        });
        if (canvas.current !== null) {
            watch.observe(canvas.current);
        }
        return () => {
            ended = true;
            watch.disconnect();
            preview.current?.stop();
        };
    }, []);
    useEffect(() => preview.current?.show(look), [look]);
    return (
        <figure class="preview">
            <canvas ref={canvas} tabIndex={0} role="img" hidden={failed} width={280} height={340}
                aria-label={words.looks.preview(look.name)}
                onKeyDown={(event) => {
                    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
                    if (way !== undefined) {
                        event.preventDefault();
                        preview.current?.turn(way * 0.3);
                    }
                }}
                onPointerMove={(event) => {
                    if (event.buttons !== 0) {
                        preview.current?.turn(event.movementX * 0.012);
                    }
                }} />
            <figcaption class="soft">{failed ? words.looks.noPicture : words.looks.turn}</figcaption>
        </figure>
    );
}

function Editor({ loaded, isGuest }: { loaded: Profiles; isGuest: boolean }): JSX.Element {
    const [now, setNow] = useState(loaded);
    const [wrong, setWrong] = useState('');
    const [said, setSaid] = useState('');
    const id = useId();
    const look = now.profiles.find(({ character_id }) => character_id === now.active) ?? now.profiles[0];
    if (look === undefined) {
        return <p>{site.notFound}</p>;
    }
    const change = (next: Profiles): void => {
        setNow(next);
        setSaid('');
        setWrong('');
    };
    const edit = (part: Partial<Character>): void => change({
        ...now, profiles: now.profiles.map((each) => each === look ? { ...each, ...part } : each),
    });
    const add = (): void => {
        const numbers = now.profiles.map(({ character_id }) => Number(/^c(\d+)$/.exec(character_id)?.[1] ?? 0));
        const character_id = `c${Math.max(0, ...numbers) + 1}`;
        change({
            active: character_id,
            profiles: [...now.profiles, { ...look, character_id, name: words.looks.fresh(now.profiles.length + 1) }],
        });
    };
    const save = async (event: Event): Promise<void> => {
        event.preventDefault();
        try {
            await send('PUT', '/api/account/profiles', now);
            setSaid(site.saved);
        } catch (cause) {
            setWrong(sayFailure(cause));
        }
    };
    return (
        <div class="looks">
            <Picture look={look} />
            <form class="form" data-form="looks" noValidate onSubmit={(event) => void save(event)}>
                <label for={`${id}-which`}>{words.looks.which}</label>
                <select id={`${id}-which`} name="which" value={now.active}
                    onChange={(event) => change({ ...now, active: event.currentTarget.value })}>
                    {now.profiles.map(({ character_id, name }) =>
                        <option key={character_id} value={character_id}>{name}</option>)}
                </select>
                <label for={`${id}-name`}>{words.looks.name}</label>
                <input id={`${id}-name`} name="name" value={look.name} maxLength={32} aria-invalid={wrong !== ''}
                    aria-describedby={`${id}-wrong`}
                    onInput={(event) => edit({ name: event.currentTarget.value })} />
                <p class="soft">{isGuest ? words.looks.guestName : words.looks.ownName}</p>
                <div class="colours">
                    {COLOURS.map(([key, label]) => (
                        <label key={key}>{label}
                            <input type="color" name={key} value={hex(look[key])}
                                onInput={(event) => edit({ [key]: parseInt(event.currentTarget.value.slice(1), 16) })} />
                        </label>
                    ))}
                </div>
                <p id={`${id}-wrong`} class="wrong" role="alert">{wrong}</p>
                <p class="ways">
                    <button class="button" type="submit">{words.looks.save}</button>
                    <button class="button quiet" type="button" disabled={now.profiles.length >= CHARACTERS_MAX}
                        onClick={add}>{words.looks.add}</button>
                    {look.character_id !== 'default' && <button class="button quiet" type="button"
                        onClick={() => change({
                            active: 'default', profiles: now.profiles.filter((each) => each !== look),
                        })}>{words.looks.remove}</button>}
                </p>
                {now.profiles.length >= CHARACTERS_MAX && <p class="soft">{words.looks.most(CHARACTERS_MAX)}</p>}
                <p role="status">{said}</p>
            </form>
        </div>
    );
}

export function Looks({ session }: { session: Session }): JSX.Element {
    const loaded = useLoaded<Profiles>('/api/account/profiles');
    return (
        <section class="panel">
            <h2>{words.looks.title}</h2>
            <p class="soft">{words.looks.hint}</p>
            {loaded.failure !== null && <Trouble failure={loaded.failure} again={loaded.again} />}
            {loaded.value === null && loaded.failure === null && <p role="status">{site.loading}</p>}
            {loaded.value !== null && <Editor loaded={loaded.value} isGuest={session.is_guest === true} />}
        </section>
    );
}

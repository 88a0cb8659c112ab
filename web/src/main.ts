// The entry of the only page there is so far: the game.
import { PlayPage } from './play/play.ts';
import { CannotDraw } from './play/view.ts';
import { showFailure } from './ui/notice.ts';
import { words } from './ui/words.ts';

declare global {
    interface Window {
        sandlot: PlayPage; // for tests, and for use in the console
    }
}

try {
    window.sandlot = new PlayPage();
} catch (error) {
    if (error instanceof CannotDraw) {
        showFailure(words.picture.title, words.picture.missing);
    } else {
        showFailure(words.pageFailed.title, words.pageFailed.text(String(error)));
        throw error;
    }
}

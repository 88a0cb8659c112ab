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

// The studio shows this page in a frame and sends a port to the worker in which the place is played.
function studioPort(): Promise<MessagePort> {
    return new Promise((done) => {
        addEventListener('message', ({ source, origin, ports: [port] }) => {
            if (source === parent && origin === location.origin && port !== undefined) {
                done(port);
            }
        });
        parent.postMessage('sandlot-screen', location.origin);
    });
}

try {
    if (location.hash === '#studio' && parent !== window) {
        window.sandlot = new PlayPage(await studioPort());
        window.sandlot.playHere();
    } else {
        window.sandlot = new PlayPage();
    }
} catch (error) {
    if (error instanceof CannotDraw) {
        showFailure(words.picture.title, words.picture.missing);
    } else {
        showFailure(words.pageFailed.title, words.pageFailed.text(String(error)));
        throw error;
    }
}

// The entry of the only page there is so far: the game.
import { PlayPage } from './play/play.ts';
import { CannotDraw } from './play/view.ts';
import { chosenLanguage } from './ui/languages.ts';
import { linkWords } from './ui/link_words.ts';
import { showFailure } from './ui/notice.ts';
import { speak, words } from './ui/words.ts';

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

function start(port: MessagePort | null): void {
    try {
        window.sandlot = new PlayPage(port);
        if (port !== null) {
            window.sandlot.playHere();
        }
    } catch (error) {
        if (error instanceof CannotDraw) {
            showFailure(words.picture.title, words.picture.missing);
        } else {
            showFailure(words.pageFailed.title, words.pageFailed.text(String(error)));
            throw error;
        }
    }
}

// Without `await`: a page that waits at its top level is cut into many small files. The Studio's port is
// waited for at once, because it comes only once.
const port = location.hash === '#studio' && parent !== window ? studioPort() : null;
const language = chosenLanguage();
document.documentElement.lang = language;
void speak(language, words, linkWords).then(() => port).then(start);

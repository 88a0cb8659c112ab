// The entry of the only page there is so far: the game.
import { PlayPage } from './play/play.ts';

declare global {
    interface Window {
        sandlot: PlayPage; // for tests, and for use in the console
    }
}

window.sandlot = new PlayPage();

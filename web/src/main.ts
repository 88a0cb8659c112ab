// The entry of the only page there is so far: the game.
import { PlayPage } from './play/play.ts';

declare global {
    interface Window {
        sandlot: PlayPage; // for tests, and for whoever opens the console
    }
}

window.sandlot = new PlayPage();

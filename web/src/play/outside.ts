// What happens to the page from outside while one plays: the picture is lost, the network goes and comes,
// another window takes the player over. Each is said in a line, and is over when it is over.
import { Notice } from '../ui/notice.ts';
import { words } from '../ui/words.ts';

const PICTURE_MS = 15_000; // until nobody believes any more that it comes back
const NEWER_MS = 60_000; // then it has been said
const REPLACED_MS = 10_000; // how long another window's word explains who replaced this one

export class Outside {
    isPictureLost = false;
    private isOld = false;
    private readonly notice = new Notice();
    private readonly channel = typeof BroadcastChannel === 'undefined' ? null
        : new BroadcastChannel('sandlot');
    private otherMs = -Infinity; // when another window of this browser came in
    private pictureTimer = 0;

    constructor(canvas: HTMLCanvasElement, onPictureLost: () => void, onNetwork: () => void) {
        canvas.addEventListener('webglcontextlost', (event) => {
            event.preventDefault(); // then it may be restored
            canvas.style.visibility = 'hidden'; // it would be white, as texts over it are
            this.losePicture();
            onPictureLost();
        });
        canvas.addEventListener('webglcontextrestored', () => {
            this.isPictureLost = false;
            canvas.style.visibility = '';
            clearTimeout(this.pictureTimer);
            this.tell();
        });
        addEventListener('offline', () => this.tell());
        addEventListener('online', () => {
            this.tell();
            onNetwork();
        });
        this.channel?.addEventListener('message', () => { this.otherMs = performance.now(); });
    }

    // This window is about to come in.
    announce(): void {
        this.channel?.postMessage('joining');
    }

    replacedText(): string {
        return performance.now() - this.otherMs < REPLACED_MS ? words.replaced.sameBrowser
            : words.replaced.elsewhere;
    }

    // The server has a newer page; this one goes on.
    tellNewer(): void {
        this.isOld = true;
        this.tell();
        setTimeout(() => {
            this.isOld = false;
            this.tell();
        }, NEWER_MS);
    }

    private losePicture(): void {
        this.isPictureLost = true;
        this.tell();
        this.pictureTimer = window.setTimeout(
            () => this.notice.show(words.picture.gone, true), PICTURE_MS);
    }

    private tell(): void {
        if (this.isPictureLost) {
            this.notice.show(words.picture.lost);
        } else if (!navigator.onLine) {
            this.notice.show(words.offlineNotice);
        } else if (this.isOld) {
            this.notice.show(words.newer, true);
        } else {
            this.notice.hide();
        }
    }
}

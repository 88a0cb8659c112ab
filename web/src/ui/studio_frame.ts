// What the game page tells the Studio that shows it in a frame, while a draft is played on the server. Both are pages of
// the same origin, and neither believes another one.
export type ScreenSaid = { kind: 'room'; world: string } | { kind: 'log'; lines: string[] };

const NAME = 'sandlot-said';

export function tellStudio(said: ScreenSaid): void {
    if (parent !== window) {
        parent.postMessage({ [NAME]: said }, location.origin);
    }
}

// Null: it is something else, or came from elsewhere.
export function fromScreen({ source, origin, data }: MessageEvent, screen: Window | null): ScreenSaid | null {
    const said = typeof data === 'object' && data !== null ? (data as { [NAME]?: ScreenSaid })[NAME] : undefined;
    return screen !== null && source === screen && origin === location.origin ? said ?? null : null;
}

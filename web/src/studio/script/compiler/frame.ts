// On the server the compiler tells its host that it is alive; in a browser nobody watches.
export const tellAlive = (): void => undefined;
export const tellProgress = (): void => undefined;

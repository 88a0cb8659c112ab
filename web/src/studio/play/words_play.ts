// Every sentence of playing in the studio.
const english = {
    play: 'Play',
    stop: 'Stop',
    again: 'Start again',
    pause: 'Pause',
    go: 'Go on',
    failed: 'The place cannot be played yet',
    here: 'Here, alone',
    server: 'On the server, with friends',
    where: 'Where to play',
    screen: 'The place, as players see it',
    invite: 'Copy a link for friends',
    copied: 'Copied. People who may test this place can open it.',
    notCopied: (link: string) => `Copy this link: ${link}`,
    serverHint: 'What you save is built and runs there at once.',
    tick: (ms: number) => `One tick ${ms.toFixed(2)} ms`,
    name: 'You',
};

export const words: typeof english = english;

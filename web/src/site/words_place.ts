// Every sentence of the page of a place.
import { words as siteWords } from './words.ts';

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

// 4,358 becomes "4.4 kB".
export function bytesText(bytes: number): string {
    if (bytes < 1000) {
        return `${whole.format(bytes)} B`;
    }
    return bytes < 1e6 ? `${short.format(bytes / 1e3)} kB` : `${short.format(bytes / 1e6)} MB`;
}

const english = {
    play: 'Play',
    playBeta: 'Play the beta',
    playDraft: 'Play the draft',
    privateWorld: 'Play with friends',
    privateTitle: 'A world for you and your friends',
    privateHint: 'Only people with this code or link come in. It stays as you leave it until you delete it.',
    tooManyWorlds: 'You have as many worlds as you may have. Delete one of them first:',
    yourWorlds: 'Your worlds',
    worlds: 'Worlds that run',
    noWorlds: 'None is running. Press Play to start one.',
    join: 'Join',
    room: (players: number, most: number) => `${whole.format(players)} of ${whole.format(most)}`,
    players: 'Players',
    playing: 'Playing now',
    mostPlayers: 'Players in a world',
    upTo: (most: number) => `up to ${whole.format(most)}`,
    download: 'To download',
    downloadFile: 'Download its .game file',
    atMost: (bytes: number) => `at most ${bytesText(bytes)}`,
    about: 'About',
    noAbout: 'Its creator has written nothing about it.',
    favourite: 'Favourite',
    isFavourite: 'A favourite',
    up: 'I like it',
    down: 'I do not like it',
    report: 'Report',
    manage: 'Work on it',
    versions: 'Versions',
    version: (name: string) => `Version ${name}`,
    moreVersions: 'Show more versions',
    isLive: 'live',
    pictures: 'Pictures',
    picture: (at: number, count: number) => `Picture ${at} of ${count}`,
    visits: 'Visits',
    updated: 'Updated',
    cost: 'What it costs the server',
    costs: (ms: number, players: number) =>
        `${ms.toLocaleString(undefined, { maximumFractionDigits: 2 })} ms a tick with ${
            players === 1 ? '1 player' : `${whole.format(players)} players`}`,
    ping: 'Ping',
    pingIs: (ms: number) => `${whole.format(Math.round(ms))} ms`,
    code: 'Code',
    qr: (link: string) => `QR code of ${link}`,
    qrHint: 'Point a phone’s camera at it.',
    enter: 'Go in',
    link: 'Link',
    copy: 'Copy',
    copied: 'Copied.',
    copyByHand: 'Copy the link from the field.',
    share: 'Share',
    shareTitle: 'Share this place',
    reportText: 'What is wrong with it?',
    reported: 'Your report was sent to whoever runs this server.',
    needAccount: siteWords.signInFirst,
    fork: 'Make your own from it',
    forking: 'Making a copy …',
    making: 'Making a world …',
    forkStopped: 'Cancelled. What is there of it is among your places.',
    notLive: 'It has no live version yet.',
    // What an operator decided, for those who work on it; `short` is for a list.
    decisionReason: 'Why:',
    decisions: {
        waits: {
            title: 'It is not listed yet',
            short: 'Waits for an operator',
            text: 'An operator looks at it before it is listed. Until then who has its link can play it.',
        },
        refused: {
            title: 'An operator did not let it be listed',
            short: 'Not listed: an operator refused it',
            text: 'Who has its link can play it. Change what is meant and publish it again: an operator then looks at it anew.',
        },
        unlisted: {
            title: 'An operator has taken this place off the lists',
            short: 'Taken off the lists by an operator',
            text: 'Who has its link can still play it. Change what is meant, and ask whoever runs this server to list it again.',
        },
        removed: {
            title: 'An operator has removed this place',
            short: 'Removed by an operator',
            text: 'Nobody can play it, and it cannot be changed. You still find its files on its page, to download. If you '
                + 'think that this is wrong, or want to put it right, write to whoever runs this server: they can bring it back.',
        },
    },
};

export const words = english;

// Which keys do what, for what this place has: the ones of the settings.
import type { JSX } from 'preact';

import type { Place } from '../../core/bridge.ts';
import { words } from '../../ui/words.ts';
import { device } from '../device.ts';
import { actionKey, keyName, settings, type KeyAction } from '../settings.ts';

// Whether there is anything for build mode to do.
export const canBuild = ({ build, pieces, terraform }: Place): boolean =>
    (build && pieces.length > 0) || terraform;

const WALK: readonly KeyAction[] = ['forward', 'left', 'back', 'right'];

export function Help({ place }: { place: Place }): JSX.Element | null {
    const say = words.help;
    const { keys } = settings.value;
    if (device.value !== 'desk') {
        return null;
    }
    const rows: [string[], string][] = [
        [WALK.map((action) => keyName(keys[action])), say.walk],
        [[keyName(keys.jump)], say.jump],
        [[keyName(keys.run)], say.run],
        ...place.weapons > 0 ? [[[say.click], say.shoot] as [string[], string]] : [],
        ...place.terraform ? [
            [[keyName(keys.dig)], say.dig] as [string[], string],
            [[keyName(keys.fill)], say.fill] as [string[], string],
        ] : [],
        ...canBuild(place) ? [[[keyName(keys.build)], say.build] as [string[], string]] : [],
        ...place.actions.map((name, at): [string[], string] => [[keyName(actionKey(name, at))], name])
            .filter(([[key]]) => key !== ''),
        [[keyName(keys.chat)], say.chat],
        [[keyName(keys.camera)], say.camera],
    ];
    return (
        <p id="help">
            {rows.map(([names, what]) => (
                <span key={what}>{names.map((name) => <kbd key={name}>{name}</kbd>)} {what}</span>
            ))}
        </p>
    );
}

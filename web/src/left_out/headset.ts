// In place of three's WebXRManager: nobody plays with a headset, and it is 4 KB of the page.
import { EventDispatcher } from 'three';

export class WebXRManager extends EventDispatcher {
    readonly enabled = false;
    readonly isPresenting = false;

    setAnimationLoop(): void {}

    hasDepthSensing(): boolean {
        return false;
    }

    getEnvironmentBlendMode(): undefined {
        return undefined;
    }

    dispose(): void {}
}

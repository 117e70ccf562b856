import type { TimedToleration } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';

/** The keys of the taints that come and go. */
export const taintKeys = ['maintenance', 'spot'] as const;

const anySeconds = [undefined, -5, 0, 1, 5, 20, 60, 300, 1000];

/** Any toleration at all, or one for one of these times; undefined: for ever. */
export function drawToleration(
  draw: Draw,
  times: readonly (number | undefined)[] = anySeconds,
): TimedToleration {
  const key = draw.of([...taintKeys, ...taintKeys, '']);
  const value = key === '' ? '' : draw.of(['', 'a', 'b']);
  const exists = key === '' || draw.chance(0.5);
  const seconds = draw.of(times);
  const effect = seconds === undefined ? draw.of(['', 'NoExecute']) : 'NoExecute';
  return {
    ...(key && { key }),
    operator: exists ? 'Exists' : 'Equal',
    ...(!exists && value && { value }),
    ...(effect && { effect }),
    ...(seconds !== undefined && { tolerationSeconds: seconds }),
  };
}

/** The same toleration for another time. */
export function withOtherSeconds(toleration: TimedToleration, draw: Draw): TimedToleration {
  const { tolerationSeconds: _before, ...rest } = toleration;
  const seconds = draw.of([undefined, 0, 3, 30, 120, 600]);
  return seconds === undefined || toleration.effect !== 'NoExecute'
    ? rest
    : { ...rest, tolerationSeconds: seconds };
}

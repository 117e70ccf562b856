// What is decided about the NoExecute taint of a node, where pauses may have a say.
import type { Node } from '../model/node.ts';
import type { StoreView } from '../store.ts';
import { type Circumstances, decideNoExecute, type NoExecuteDecision } from './decide.ts';
import { taintPause } from './readiness-pauses.ts';
import { reasonAtWallTime } from './wall-times.ts';

/** The decision, with reasons by the clock of the cluster; a taint that a pause holds back is not put on. */
export function decideUnlessPaused(
  store: StoreView,
  node: Node,
  circumstances: Circumstances,
): NoExecuteDecision {
  const { because, ...decision } = decideNoExecute(node, circumstances);
  const atWall = because.map((reason) => reasonAtWallTime(reason, store.clock));
  const key = decision.kind === 'taint' ? decision.add[0]?.key : undefined;
  const pause = key === undefined ? null : taintPause(store, node, key);
  if (!pause) return { ...decision, because: atWall };
  const paused = { code: 'ReadinessPaused', pause: pause.name, until: pause.until } as const;
  return { ...decision, kind: 'keep', add: [], because: [...atWall, paused] };
}

// The marks of drains on nodes, as the API shows them.
import type { KubeObject } from '@taintmgr/sim-cluster';

const annotation = 'taintmgr.dev/drain';
/** A drain that has given no sign of life for so long is not at work. */
const staleMs = 60_000;

export interface Mark {
  readonly id: string;
  readonly by?: string;
  readonly taint: string;
  readonly cordoned?: boolean;
  /** False: it is cordoned before its turn. */
  readonly tainted?: boolean;
  readonly heartbeat?: string;
  readonly ended?: boolean;
}

export function marksOf({ metadata }: KubeObject): readonly Mark[] {
  return JSON.parse(metadata.annotations?.[annotation] ?? '[]');
}

export function isAtWork(node: KubeObject, id: string, at: number): boolean {
  return marksOf(node).some((mark) => {
    const heartbeat = Date.parse(mark.heartbeat ?? '');
    return mark.id === id && !mark.ended && at - heartbeat < staleMs;
  });
}

// What a controller that carries out NodeDrains is made with, in a story.
import type { Engine } from '@taintmgr/core';
import type { LoopOptions } from '../../src/controller/engine-loop.ts';

/** It reads NodeDrains, and publishes how far they are. */
export function drainingNodes(
  engine: Engine,
  identity: string,
): Pick<LoopOptions, 'nodeDrains' | 'publish'> {
  const status = () => ({ controllers: ['node-drain-controller'], conditions: [] });
  const policyCounts = (now: number) => engine.policyCounts(now);
  return { nodeDrains: true, publish: { name: 'taintmgr', identity, status, policyCounts } };
}

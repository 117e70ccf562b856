// The node pressure agent: its machine behind the loop that the engine has, and where kubelets are.
import type { PressureCommand, PressureEvent } from '@taintmgr/core/pressure';
import type { KubeletAddress } from '../pressure/convert.ts';
import { ControlLoop } from './loop.ts';
import type { LoopNotice, LoopSettings, Machine } from './loop-parts.ts';
import { type PressureSourceOptions, pressureSources } from './pressure-sources.ts';
import {
  type PressureCommandNotice,
  type PressureRemoval,
  pressureProcedures,
} from './procedures/pressure.ts';

/** The choices of a PressureLoop. */
export interface PressureLoopOptions extends PressureSourceOptions, LoopSettings {
  /** The node pressure machine, or what stands around it. */
  readonly machine: Machine<PressureEvent, PressureCommand>;
  /** By what pods are made to go; `delete` when left out. */
  readonly removal?: PressureRemoval;
}

/** News for a person running the agent; the caller logs, counts or prints it. */
export type PressureNotice = LoopNotice | PressureCommandNotice;

/**
 * The node pressure agent without its I/O: reflectors give the machine nodes and pods, a poller the
 * usage of each node. Its callers use it like Loop.
 */
export class PressureLoop extends ControlLoop<
  PressureEvent,
  PressureCommand,
  PressureCommandNotice
> {
  readonly #kubelets: ReadonlyMap<string, KubeletAddress | null>;

  constructor(options: PressureLoopOptions) {
    const { machine, removal = 'delete' } = options;
    const { sources, kubelets } = pressureSources(options);
    super({
      ...options,
      // A pod is read again before each eviction anyway, so an old view holds nothing back.
      machine: {
        nextWake: () => machine.nextWake(),
        handle: (now, event) => (event.kind === 'view' ? [] : machine.handle(now, event)),
      },
      sources,
      procedures: pressureProcedures(removal),
    });
    this.#kubelets = kubelets;
  }

  /** Where the kubelet of a node listens; null: nothing is known of it. */
  kubeletOf(nodeName: string): KubeletAddress | null {
    return this.#kubelets.get(nodeName) ?? null;
  }
}

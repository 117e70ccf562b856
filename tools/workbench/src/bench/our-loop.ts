// Our controller's loop against a cluster, as several benches run it.
import { createEngine, type Engine } from '@taintmgr/core';
import {
  drive,
  HttpTransport,
  Loop,
  type LoopOptions,
  loadKubeconfig,
  type Machine,
  type Notice,
  type Transport,
} from '@taintmgr/k8s-adapter';

export interface OurLoopOptions extends Omit<LoopOptions, 'machine' | 'random'> {
  /** Left out: one without settings. */
  readonly engine?: Engine;
  /** Called for each pod that is heard of. */
  readonly onPod?: () => void;
  readonly onNotice?: (notice: Notice) => void;
  /** Puts something between the loop and its transport. */
  readonly through?: (transport: Transport) => Transport;
}

/** A loop at work. */
export interface OurLoop {
  /** Of the API server that it talks to. */
  readonly url: string;
  readonly stop: () => void;
}

/** Begins to follow a cluster and to evict; resolves when everything has been read. */
export async function startOurLoop(
  kubeconfig: string,
  { engine = createEngine(), onPod, onNotice, through, ...options }: OurLoopOptions = {},
): Promise<OurLoop> {
  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, 'taintmgr/bench');
  const stopping = new AbortController();
  const loop = new Loop({ ...options, machine: heard(engine, onPod), random: Math.random });
  await new Promise<void>((resolve, reject) => {
    drive({
      loop,
      transport: through?.(transport) ?? transport,
      signal: stopping.signal,
      onNotice: (notice) => {
        onNotice?.(notice);
        if (notice.kind === 'synced') resolve();
      },
    }).catch(reject);
  });
  const stop = (): void => {
    stopping.abort();
    transport.close();
  };
  return { url: access.server, stop };
}

function heard(engine: Engine, onPod?: () => void): Machine {
  return {
    nextWake: () => engine.nextWake(),
    handle: (now, event) => {
      const commands = engine.handle(now, event);
      if (event.kind === 'podUpsert') onPod?.();
      return commands;
    },
  };
}

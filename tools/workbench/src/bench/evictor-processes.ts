// The processes that controller.ts and real.ts compare: the ways to evict of evictors.ts, the
// shipped controller, and third-party programs.
import { spawnSync } from 'node:child_process';
import { Child, ForeignChild, measured } from './measure.ts';

/** A way to evict: it begins with the kubeconfig, and is ready when it waits for taints. */
export interface Evictor {
  /** `flags` are of Node. */
  readonly start: (kubeconfig: string, flags?: readonly string[]) => Promise<Child>;
  /** True if it writes an Event about each pod. */
  readonly records: boolean;
}

/** Nothing but the two requests for each pod. */
export const bare = 'bare request loop';
/** Flags of the controller. */
export const json = '--kube-api-content-type=application/json';
export const protobuf = '--kube-api-content-type=application/vnd.kubernetes.protobuf';

/** The arguments of Node to run the source. */
export const source: readonly string[] = ['-C', '@taintmgr/source'];
const app = `${import.meta.dirname}/../../../../apps/controller`;

/** The arguments of Node to run the controller. */
export function controllerProgram(isBuilt = true): readonly string[] {
  return isBuilt ? [`${app}/dist/main.js`] : [...source, `${app}/src/main.ts`];
}

export function buildController(): void {
  const command = ['run', '-s', 'build', '--', '--filter=@taintmgr/controller'];
  const { status, stdout } = spawnSync('npm', command, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stdout);
}

/** An evictor of evictors.ts. */
export function evictor(name: string): Evictor {
  const file = `${import.meta.dirname}/evictors.ts`;
  return {
    records: name === 'loop',
    start: async (kubeconfig, flags = []) => {
      const child = new Child(...source, ...flags, ...measured, file, name, kubeconfig);
      await child.next();
      return child;
    },
  };
}

/** The shipped controller, with these flags. */
export function ours(program: readonly string[], ...chosen: readonly string[]): Evictor {
  return {
    records: true,
    start: async (kubeconfig, flags = []) => {
      const alone = '--kube-controller-manager-runs=none';
      const own = ['--kubeconfig', kubeconfig, '--secure-port=0', alone, ...chosen];
      const child = new Child(...flags, ...measured, ...program, ...own);
      await child.said('leader elected', 'synced');
      return child;
    },
  };
}

/** A program of others; it is ready a while after it has written these words to stderr. */
export function peer(command: readonly string[], words: string): Evictor {
  return {
    records: true,
    start: async () => {
      const child = new ForeignChild(...command);
      await child.said(words);
      await new Promise((resolve) => setTimeout(resolve, readingMs));
      return child;
    },
  };
}

/** The time for a peer to read the cluster: a peer does not say when it has. */
const readingMs = 5000;

// The floors of each package: an import goes down or stays in its room, types and lazy imports too.
import { importsOf } from './imports.ts';
import type { Fault, Tree } from './tree.ts';

interface House {
  /**
   * From the top down. A floor is a line of rooms: folders (`kernel/`), each folder in one
   * (`commands/NAME`, a folder or a file) and files (`store.ts`). Those on one floor do not import each other, but for
   * `a < b`: there b may import a.
   */
  readonly floors: readonly string[];
}

/** ARCHITECTURE.md shows these lines as they stand here; tidy compares. */
export const houses: Readonly<Record<string, House>> = {
  'packages/core/src': {
    floors: [
      'index.ts doors/',
      'engine.ts shadow/',
      'counts.ts explain.ts',
      'differences/',
      'command.ts config.ts',
      'eviction/ < drain/ lifecycle/ pressure/',
      'own-replicas.ts',
      'store.ts',
      'event.ts',
      'attempt/',
      'policy/',
      'devices/',
      'model/',
      'kernel/',
    ],
  },
  'packages/k8s-adapter/src': {
    floors: [
      'index.ts doors/',
      'explain/',
      'survey/',
      'client/ kubeconfig/',
      'driver/',
      'controller/ transport/',
      'drain/ evictors/ flight/ history/ manifests/ pod-watch/ pressure/ takeover/',
      'proto/',
      'kinds/ text/',
    ],
  },
  'packages/sim-cluster/src': {
    floors: [
      'index.ts server.ts',
      'cluster.ts',
      'at-rest/ topology.ts',
      'builders.ts disruption/ kubelet/ scheduler/ < workloads/',
      'controllers/',
      'api/',
      'handlers/',
      'write/',
      'patch/ selectors/',
      'resources/',
      'defaults/',
      'wire/',
      'validation/',
      'schema/ store/',
      'objects/',
      'kernel/',
    ],
  },
  'packages/api-server/src': {
    floors: [
      'index.ts program/',
      'embedded.ts',
      'server/ https/',
      'crd/',
      'apply/ discovery/',
      'kinds/ table/',
      'admission/',
      'auth/ policy/ structural/',
      'cel/ protobuf/',
    ],
  },
  'packages/page/src': {
    floors: [
      'index.ts',
      'html.ts bundled.ts',
      'build.ts',
      'browser/',
      'model/ < live-cluster.ts live-history.ts',
      'each.ts live.ts',
      'demo.ts simulation.ts what-if.ts',
    ],
  },
  'apps/controller/src': {
    floors: [
      'main.ts',
      'process/',
      'flight/ pressure/',
      'metrics/',
      'overlap/ server/ shadow/',
      'stats/ tracing/',
      'leadership/',
      'flags/ log/',
      'transport/',
      'rate-limit/ version.ts',
    ],
  },
  'apps/kubectl-taintmgr/src': {
    floors: [
      'main.ts',
      'program.ts',
      'commands.ts',
      'commands/simulate/ < commands/web/ commands/NAME',
      'report/',
      'cli/ cluster/',
      'render/',
    ],
  },
};

/** A floor of a house: its rooms, and the imports allowed among them. */
interface Floor {
  readonly rooms: readonly string[];
  readonly allowed: ReadonlySet<string>;
}

export function importsUp(
  tree: Tree,
  all: Readonly<Record<string, House>> = houses,
): readonly Fault[] {
  const imports = importsOf(tree);
  return Object.entries(all).flatMap(([folder, { floors }]) => {
    const inside = [...imports.keys()].filter((file) => file.startsWith(`${folder}/`));
    const levels = floors.map(readFloor);
    return inside.flatMap((file) => faultsOf(folder, levels, file, imports.get(file) ?? []));
  });
}

function readFloor(line: string): Floor {
  const words = line.split(' ');
  const pairs = words.flatMap((word, i) =>
    word === '<' ? [`${words[i + 1]} ${words[i - 1]}`] : [],
  );
  return { rooms: words.filter((word) => word !== '<'), allowed: new Set(pairs) };
}

function faultsOf(
  folder: string,
  levels: readonly Floor[],
  file: string,
  imported: readonly string[],
): readonly Fault[] {
  const from = roomOf(folder, levels, file);
  if (from === null) return [{ file, text: 'is on no floor of scripts/tidy/floors.ts' }];
  return imported.flatMap((path) => {
    const to = path.startsWith(`${folder}/`) ? roomOf(folder, levels, path) : null;
    if (to === null || to.name === from.name || to.level > from.level) return [];
    const isAllowed =
      to.level === from.level && levels[to.level]?.allowed.has(`${from.name} ${to.name}`);
    if (isAllowed) return [];
    const where = to.level === from.level ? 'on the same floor' : 'above';
    return [{ file, text: `imports ${path}, which is ${where} (scripts/tidy/floors.ts)` }];
  });
}

function roomOf(
  folder: string,
  levels: readonly Floor[],
  file: string,
): { readonly name: string; readonly level: number } | null {
  const inside = file.slice(folder.length + 1);
  for (const [level, { rooms }] of levels.entries()) {
    for (const room of rooms) {
      const name = nameOf(room, inside);
      if (name !== null) return { name, level };
    }
  }
  return null;
}

/** The name of the room that the file is in, or null if the file is elsewhere. */
function nameOf(room: string, inside: string): string | null {
  if (!/\/$|NAME$/.test(room)) return inside === room ? room : null;
  const pattern = room.replace('NAME', '[^/]+');
  return new RegExp(`^${pattern}`).exec(inside)?.[0] ?? null;
}

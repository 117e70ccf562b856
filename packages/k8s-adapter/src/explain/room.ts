// The places that replacements of evicted pods find, by a scheduler that the caller provides.
import type { ClusterReader } from '../survey/reader.ts';
import { unless } from '../survey/refusals.ts';
import { count, listText } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import type { ReplacementsDocument } from './answers.ts';
import type { Notes } from './notes.ts';
import { type FindRoom, hypotheticalTaints, type Question, type Replacement } from './question.ts';
import type { PodReport } from './report.ts';

/** The answer about replacements. */
export type Room =
  | { readonly kind: 'found'; readonly replacements: readonly NamedReplacement[] }
  | { readonly kind: 'unknown'; readonly why: string };

interface NamedReplacement extends Omit<Replacement, 'uid'> {
  readonly pod: string;
}

/** Of a larger cluster too much would have to be read. */
const nodesMax = 500;

/** A node as the API server has it. */
interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly spec?: object;
}

/**
 * Looks for places for the replacements of pods that a what-if evicts; null: no pod is replaced.
 */
export async function readRoom(
  reader: ClusterReader,
  pods: readonly PodReport[],
  asked: ReadonlyMap<string, readonly Taint[]>,
  findRoom: FindRoom,
): Promise<Room | null> {
  const leaving = pods.filter(isReplaced);
  if (leaving.length === 0) return null;
  const nodes = (await unless(403, () => reader.objects('/api/v1/nodes'), null)) as NodeObject[];
  if (nodes === null) return { kind: 'unknown', why: 'no permission to list nodes' };
  if (nodes.length > nodesMax)
    return { kind: 'unknown', why: `it is not looked for with more than ${nodesMax} nodes` };
  const all = (await unless(403, () => reader.objects('/api/v1/pods'), null)) as object[] | null;
  if (all === null) return { kind: 'unknown', why: 'no permission to list all pods' };
  const found = await findRoom({
    nodes: nodes.map((node) => withTaints(node, asked.get(node.metadata.name))),
    pods: all,
    leaving: leaving.map(({ facts }) => facts.pod.uid),
  });
  const names = new Map(
    leaving.map(({ facts: { pod } }) => [pod.uid, `${pod.namespace}/${pod.name}`]),
  );
  const replacements = found.map(({ uid, ...one }) => ({ pod: names.get(uid) ?? uid, ...one }));
  return { kind: 'found', replacements };
}

type Taint = ReturnType<typeof hypotheticalTaints>[number];

/** The taints that nodes would have, by their names. */
export function assumedTaints(
  nodes: readonly { readonly node: { readonly name: string; readonly taints: readonly Taint[] } }[],
  question: Question,
  now: number,
): ReadonlyMap<string, readonly Taint[]> {
  return new Map(
    nodes.map(({ node }) => [node.name, hypotheticalTaints(node.taints, question, now)] as const),
  );
}

function withTaints(node: NodeObject, taints: readonly Taint[] | undefined): object {
  if (!taints) return node;
  const written = taints.map(({ key, value, effect }) => ({ key, value, effect }));
  return { ...node, spec: { ...node.spec, taints: written } };
}

/** Pods of DaemonSets belong to their node, and a pod without a controller is not replaced. */
function isReplaced({ facts: { pod }, explanation }: PodReport): boolean {
  const { owner, mirror, deletionTimestamp } = pod;
  const goes = explanation.decision.kind === 'evict' && deletionTimestamp === null;
  return goes && !mirror && owner !== null && owner.kind !== 'DaemonSet';
}

/** The lines about replacements: a warning for those that find no place. */
export function roomNotes(room: Room): Notes {
  if (room.kind === 'unknown') {
    return { warnings: [], notes: [`whether the replacements find room is unknown: ${room.why}`] };
  }
  const { replacements } = room;
  const homeless = new Map<string, string[]>();
  for (const { pod, why } of replacements) {
    if (why !== null) homeless.set(why, [...(homeless.get(why) ?? []), pod]);
  }
  const of = `of ${count(replacements.length, 'replacement')}`;
  const warnings = Array.from(homeless, ([why, pods]) => {
    const verb = pods.length === 1 ? 'finds' : 'find';
    return printable(`${pods.length} ${of} ${verb} no room (${listText(pods)}): ${why}`);
  });
  const [all, verb] =
    replacements.length === 1
      ? ['the replacement', 'finds']
      : [`the ${replacements.length} replacements`, 'find'];
  const isWhole = homeless.size === 0 && replacements.every(({ ignores }) => ignores !== 'devices');
  const fits = isWhole
    ? [`${all} ${verb} room by the filters of kube-scheduler 1.36, as the other nodes are now`]
    : [];
  const ignored = (['volumes', 'devices'] as const).flatMap((what) => {
    const pods = replacements.filter(({ ignores }) => ignores === what).map(({ pod }) => pod);
    return pods.length === 0
      ? []
      : [
          `${what} of ${listText(pods)} were not looked at: the replacements may need a certain node`,
        ];
  });
  return { warnings, notes: [...fits, ...ignored].map(printable) };
}

/** The same for documents. */
export function replacementsDocument(room: Room): ReplacementsDocument {
  if (room.kind === 'unknown') return { unknown: room.why };
  const { replacements } = room;
  return {
    pods: replacements.length,
    withoutRoom: replacements.filter(({ why }) => why !== null).length,
    each: replacements.map(({ pod, node, why, ignores }) => ({
      pod,
      ...(node !== null && { node }),
      ...(why !== null && { because: why }),
      ...(ignores !== null && { ignores }),
    })),
  };
}

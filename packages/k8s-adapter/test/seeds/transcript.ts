import type { ApiHistory } from '@taintmgr/oracle';
import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { Notice } from '../../src/controller/engine-loop.ts';

/** What happened in a world, one line each, with the seconds since its beginning. */
export class Transcript {
  readonly lines: string[] = [];
  readonly #api: ClusterApi;
  readonly #apiHistory: ApiHistory;
  readonly #start: number;

  constructor(api: ClusterApi, apiHistory: ApiHistory, start: number) {
    this.#api = api;
    this.#apiHistory = apiHistory;
    this.#start = start;
    api.subscribe((change) => this.#change(change));
  }

  say(text: string, at: number = this.#api.clock.now()): void {
    const time = new Date(at).toISOString().slice(11, 23);
    this.lines.push(`${time} ${((at - this.#start) / 1000).toFixed(3).padStart(9)}  ${text}`);
  }

  /** What the controller, or `who`, says of itself, where it concerns pods or its view. */
  notice(notice: Notice, who = ''): void {
    const text = noticeText(notice);
    if (text !== null) this.say(`    ${who}${text}`);
  }

  #change({ type, resource, object, previous }: Change): void {
    const { actor } = this.#apiHistory;
    const hand = actor ? ` (run ${actor.run}, ${actor.kind} sent ${clock(actor.sentAt)})` : '';
    const text =
      resource === 'pods'
        ? podText(type, object, previous)
        : resource === 'nodes'
          ? nodeText(type, object, previous)
          : null;
    if (text !== null) this.say(`  ${text}${hand}`);
  }
}

function podText(
  type: Change['type'],
  object: KubeObject,
  previous: KubeObject | null,
): string | null {
  const { namespace, name, uid } = object.metadata;
  const subject = `pod ${namespace}/${name} ${uid?.slice(0, 8)}`;
  if (type === 'ADDED') return `${subject} created on ${object.spec.nodeName ?? 'no node'}`;
  if (type === 'DELETED') return `${subject} gone`;
  if (!previous?.spec.nodeName && object.spec.nodeName) {
    return `${subject} bound to ${object.spec.nodeName}`;
  }
  const ends = object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp;
  return ends ? `${subject} terminates` : null;
}

function nodeText(
  type: Change['type'],
  object: KubeObject,
  previous: KubeObject | null,
): string | null {
  const { name } = object.metadata;
  if (type !== 'MODIFIED') return `node ${name} ${type.toLowerCase()}`;
  const taints = JSON.stringify(object.spec?.taints ?? []);
  if (taints !== JSON.stringify(previous?.spec?.taints ?? []))
    return `node ${name} taints ${taints}`;
  const ready = readyText(object);
  if (ready !== readyText(previous)) return `node ${name} ${ready}`;
  const annotations = JSON.stringify(object.metadata.annotations ?? {});
  const changed = annotations !== JSON.stringify(previous?.metadata.annotations ?? {});
  return changed ? `node ${name} annotations ${annotations}` : null;
}

function readyText(node: KubeObject | null): string {
  const conditions: readonly { type: string; status: string }[] = node?.status?.conditions ?? [];
  return `Ready=${conditions.find(({ type }) => type === 'Ready')?.status}`;
}

function noticeText(notice: Notice): string | null {
  switch (notice.kind) {
    case 'listed':
      return `listed ${notice.objects} ${notice.resource}`;
    case 'watching':
      return `watches ${notice.resource}`;
    case 'synced':
      return 'synced';
    case 'reconnecting':
      return `reconnecting ${notice.resource}: ${notice.failure.message}`;
    case 'commandFinished':
      return `${notice.command.kind} ${notice.command.pod.name} ${JSON.stringify(notice.outcome)}`;
    case 'nodeWriteFinished': {
      const { command, outcome } = notice;
      const subject = 'node' in command ? command.node.name : command.pod.name;
      return `${command.kind} ${subject} ${JSON.stringify(outcome)}`;
    }
    case 'taintStartsKept':
      return `keeps starts of ${notice.command.nodeName} ${JSON.stringify(notice.command.starts)} ${notice.outcome.kind}`;
    case 'report': {
      const { report } = notice;
      if (!('pod' in report)) return `${report.kind} ${JSON.stringify(report)}`;
      if (report.kind !== 'deadline') return `${report.kind} ${report.pod.name}`;
      return `deadline of ${report.pod.name} ${report.pod.uid.slice(0, 8)}: ${clock(report.from)} to ${clock(report.to)}, ${report.cause}`;
    }
    default:
      return null;
  }
}

function clock(instant: number | null): string {
  return instant === null ? '-' : new Date(instant).toISOString().slice(11, 23);
}

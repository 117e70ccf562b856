// Finds out whether volumes of a StatefulSet are still attached to nodes that its pods have left.
import type { Command } from '@taintmgr/core';
import { answerValue, failureOf, noAnswer, succeeded } from '../../proto/answer.ts';
import { type ApiRequest, getRequest } from '../../proto/api-request.ts';
import { asList, asRecord, asText, type JsonRecord } from '../../proto/json.ts';
import { PageWalk } from '../../proto/page-walk.ts';
import {
  changed,
  failedBy,
  finish,
  type StateStep,
  send,
  stepsFrom,
  type TaskStep,
} from '../task.ts';

type Question = Extract<Extract<Command, { kind: 'askForDrain' }>['question'], { kind: 'volumes' }>;

/** The volume of a pod that is not there any more. */
interface FreeVolume {
  readonly name: string;
  readonly pod: string;
}

type State =
  | { readonly kind: 'set' }
  | { readonly kind: 'claims'; readonly templates: readonly string[]; readonly found: Volumes }
  | { readonly kind: 'attachments'; readonly volumes: Volumes }
  /** By what the node calls them, after the attachments. */
  | {
      readonly kind: 'volume';
      readonly rest: Volumes;
      readonly of: FreeVolume;
      readonly onNode: readonly FreeVolume[];
    }
  | { readonly kind: 'node'; readonly onNode: readonly FreeVolume[] };
type Volumes = readonly FreeVolume[];
type Step = StateStep<State>;

const pageSize = 500;
const done: Step = finish({ kind: 'done' });

/**
 * Reads which claims the set makes, which volumes they have, and where those are attached; then, of the
 * pod that went last, whether its node has them by its own account.
 */
export function volumeSteps(question: Question): TaskStep<never> {
  const { namespace, statefulSet } = question;
  const path = `/apis/apps/v1/namespaces/${part(namespace)}/statefulsets/${part(statefulSet)}`;
  const first = send<State>({ kind: 'set' }, getRequest(path));
  const walks = new Map<State['kind'], PageWalk>([
    ['claims', new PageWalk()],
    ['attachments', new PageWalk()],
  ]);
  return stepsFrom<State, never>(first, (state, answer): Step => {
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      if (failure.status !== 404) return finish(failedBy(failure));
      return missing(question, state);
    }
    const body = asRecord(answerValue(answer));
    const token = continueOf(body);
    const walk = token === '' ? null : walks.get(state.kind);
    const why = walk?.next(token, asList(body.items).length, pageSize) ?? null;
    return why === null ? next(question, state, body) : finish(failedBy(noAnswer(why)));
  });
}

/** A set, a volume or a node that is gone waits for nobody; a whole collection is never gone. */
function missing(question: Question, state: State): Step {
  switch (state.kind) {
    case 'set':
    case 'node':
      return done;
    case 'volume':
      return volumeOrNode(question, state.rest, state.onNode);
    case 'claims':
      return finish(changed('the cluster has no claims of volumes'));
    case 'attachments':
      return finish(changed('the cluster has no attachments of volumes'));
  }
}

function next(question: Question, state: State, body: JsonRecord): Step {
  switch (state.kind) {
    case 'set': {
      const templates = templatesOf(body);
      return templates.length === 0
        ? done
        : claims(question, { kind: 'claims', templates, found: [] });
    }
    case 'claims': {
      const found = [...state.found, ...volumesOf(question, state.templates, body)];
      const token = continueOf(body);
      if (token !== '') return claims(question, { ...state, found }, token);
      return found.length === 0 ? done : attachments({ kind: 'attachments', volumes: found });
    }
    case 'attachments': {
      const attached = attachedOf(question, state.volumes, body);
      if (attached !== null) return finish(changed(attached));
      const token = continueOf(body);
      if (token !== '') return attachments(state, token);
      const { left } = question;
      const rest = state.volumes.filter(({ pod }) => pod === left?.pod);
      return volumeOrNode(question, rest, []);
    }
    case 'volume': {
      const { driver, volumeHandle } = asRecord(asRecord(body.spec).csi);
      const name = `kubernetes.io/csi/${asText(driver)}^${asText(volumeHandle)}`;
      const onNode = driver === undefined ? [] : [{ ...state.of, name }];
      return volumeOrNode(question, state.rest, [...state.onNode, ...onNode]);
    }
    case 'node':
      return nodeOutcome(question, state.onNode, asRecord(body.status));
  }
}

function claims(
  { namespace }: Question,
  state: Extract<State, { kind: 'claims' }>,
  token = '',
): Step {
  const path = `/api/v1/namespaces/${part(namespace)}/persistentvolumeclaims`;
  return send<State>(state, page(path, token));
}

function attachments(state: Extract<State, { kind: 'attachments' }>, token = ''): Step {
  return send<State>(state, page('/apis/storage.k8s.io/v1/volumeattachments', token));
}

/** Asked after the attachments: what the volumes are called on a node, then what the node says. */
function volumeOrNode(question: Question, rest: Volumes, onNode: Volumes): Step {
  const [first, ...others] = rest;
  if (first) {
    const request = getRequest(`/api/v1/persistentvolumes/${part(first.name)}`);
    return send<State>({ kind: 'volume', of: first, rest: others, onNode }, request);
  }
  if (!question.left || onNode.length === 0) return done;
  return send<State>(
    { kind: 'node', onNode },
    getRequest(`/api/v1/nodes/${part(question.left.node)}`),
  );
}

function templatesOf({ spec }: JsonRecord): readonly string[] {
  const templates = asList(asRecord(spec).volumeClaimTemplates).map(asRecord);
  return templates.map(({ metadata }) => asText(asRecord(metadata).name));
}

/** The volumes of claims that the set has made for pods that are not there. */
function volumesOf(
  { statefulSet, staying }: Question,
  templates: readonly string[],
  { items }: JsonRecord,
): Volumes {
  return asList(items)
    .map(asRecord)
    .flatMap(({ metadata, spec }): Volumes => {
      const claim = asText(asRecord(metadata).name);
      const prefix = templates.find((one) => claim.startsWith(`${one}-${statefulSet}-`));
      const pod = prefix === undefined ? '' : claim.slice(prefix.length + 1);
      const isNumbered = /^\d+$/.test(pod.slice(statefulSet.length + 1));
      const name = asText(asRecord(spec).volumeName);
      return isNumbered && name !== '' && !staying.includes(pod) ? [{ name, pod }] : [];
    });
}

/** The first of them that is attached to one of the nodes, in words; null: none of this page is. */
function attachedOf({ nodes }: Question, volumes: Volumes, { items }: JsonRecord): string | null {
  for (const { spec } of asList(items).map(asRecord)) {
    const { nodeName, source } = asRecord(spec);
    const node = asText(nodeName);
    const name = asText(asRecord(source).persistentVolumeName);
    const volume = nodes.includes(node) ? volumes.find((one) => one.name === name) : undefined;
    if (volume) return inWords(volume, node);
  }
  return null;
}

function nodeOutcome(question: Question, onNode: Volumes, status: JsonRecord): Step {
  const attached = asList(status.volumesAttached).map((one) => asText(asRecord(one).name));
  const names = new Set([...attached, ...asList(status.volumesInUse).map(asText)]);
  const found = onNode.find(({ name }) => names.has(name));
  return found ? finish(changed(inWords(found, question.left?.node ?? ''))) : done;
}

/** As what somebody waits for. */
function inWords({ name, pod }: FreeVolume, node: string): string {
  return `volume ${name} of pod ${pod} to detach from node ${node}`;
}

function page(path: string, token: string): ApiRequest {
  return getRequest(path, { limit: pageSize, ...(token !== '' && { continue: token }) });
}

function continueOf({ metadata }: JsonRecord): string {
  return asText(asRecord(metadata).continue);
}

function part(name: string): string {
  return encodeURIComponent(name);
}

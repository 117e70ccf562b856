// DeviceTaintRules that taint-device makes: how they are written, marked and taken back.
import { formatTime, type Instant } from '@taintmgr/core/time';
import { type ApiClient, listRequest, objectRequest } from '@taintmgr/k8s-adapter/client';
import { ifThere, type RuleObject } from '@taintmgr/k8s-adapter/survey';
import { fieldManager } from './change-node.ts';

/**
 * Of a rule that taint-device has made or changed: `made`, or the effect that the rule had before. By it `undo` knows
 * what to take back.
 */
export const ruleMark = 'taintmgr.dev/taint-device';

/** As kubectl calls it. */
export function ruleReference(name: string): string {
  return `devicetaintrule.resource.k8s.io/${name}`;
}

/** The name in `devicetaintrule/NAME`, as users type it; null: the text is something else. */
export function ruleNameIn(text: string): string | null {
  const [, name] = /^devicetaintrules?(?:[.]resource[.]k8s[.]io)?\/(.+)$/.exec(text) ?? [];
  return name ?? null;
}

/** A rule; null: there is none of the name. */
export async function readRule(
  client: ApiClient,
  path: string,
  name: string,
): Promise<RuleObject | null> {
  const read = () => client.send(listRequest(`${path}/${encodeURIComponent(name)}`));
  return (await ifThere(read)) as RuleObject | null;
}

/** Makes a rule, or lets the API server check it; what the server has made of it. */
export async function createRule(
  client: ApiClient,
  path: string,
  manifest: object,
  isDryRun: boolean,
): Promise<RuleObject> {
  const query = `fieldManager=${fieldManager}&fieldValidation=Strict${isDryRun ? '&dryRun=All' : ''}`;
  return (await client.send(objectRequest('POST', `${path}?${query}`, manifest))) as RuleObject;
}

/** The change of a rule. */
export interface RuleChange {
  /** Left out: it stays as it is. */
  readonly effect?: 'NoExecute' | 'None';
  /** The start of deadlines; left out: where the effect changes, the API server's time. */
  readonly timeAdded?: Instant;
  /** The mark that the rule gets; null: its mark goes. Left out: it stays as it is. */
  readonly mark?: string | null;
  readonly isDryRun?: boolean;
}

/**
 * Changes exactly the rule that was read: a rule with another uid, or with a spec that was changed since,
 * stays unchanged, and the API server answers 422.
 */
export async function changeRule(
  client: ApiClient,
  path: string,
  { metadata: { name, uid, generation, annotations } }: RuleObject,
  { effect, timeAdded, mark, isDryRun = false }: RuleChange,
): Promise<RuleObject> {
  const marks = '/metadata/annotations';
  const markPath = `${marks}/${ruleMark.replace('/', '~1')}`;
  const isMarked = annotations?.[ruleMark] !== undefined;
  const added = timeAdded === undefined ? null : formatTime(timeAdded);
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...(generation === undefined
      ? []
      : [{ op: 'test', path: '/metadata/generation', value: generation }]),
    ...(effect ? [{ op: 'replace', path: '/spec/taint/effect', value: effect }] : []),
    ...(added ? [{ op: 'add', path: '/spec/taint/timeAdded', value: added }] : []),
    ...(mark && !annotations ? [{ op: 'add', path: marks, value: {} }] : []),
    ...(mark ? [{ op: 'add', path: markPath, value: mark }] : []),
    ...(mark === null && isMarked ? [{ op: 'remove', path: markPath }] : []),
  ];
  const query = `fieldManager=${fieldManager}${isDryRun ? '&dryRun=All' : ''}`;
  return (await client.send({
    method: 'PATCH',
    path: `${path}/${encodeURIComponent(name)}?${query}`,
    headers: { accept: 'application/json', 'content-type': 'application/json-patch+json' },
    body: JSON.stringify(body),
  })) as RuleObject;
}

/** Deletes exactly this one; another of its name stays. */
export async function deleteRule(
  client: ApiClient,
  path: string,
  { metadata: { name, uid } }: RuleObject,
): Promise<void> {
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
  await client.send(objectRequest('DELETE', `${path}/${encodeURIComponent(name)}`, options));
}

/** The condition that kube-controller-manager writes of a rule; null: it has written none. */
export function evictionCondition({ status }: RuleObject): RuleCondition | null {
  const found = status?.conditions?.find(({ type }) => type === 'EvictionInProgress');
  return (found as RuleCondition | undefined) ?? null;
}

/** `observedGeneration`: of which spec the condition speaks. */
type RuleCondition = NonNullable<NonNullable<RuleObject['status']>['conditions']>[number] & {
  readonly observedGeneration?: number;
};

// The admission policies by which the API server refuses kube-controller-manager what taintmgr decides.
import { takeoverLabel } from '@taintmgr/core/policy';
import { policyApiVersion } from '../kinds/kinds.ts';

export { takeoverLabel } from '@taintmgr/core/policy';

/** The field manager that writes the policies. */
export const takeoverManager = 'taintmgr-takeover';

/** Where the policies say which version of their content they have. */
export const takeoverVersionAnnotation = 'taintmgr.dev/takeover-version';

/**
 * The version of the content of the policies; policies in a cluster name theirs in an annotation.
 */
export const takeoverVersion = '4';

const apiVersion = 'admissionregistration.k8s.io/v1';
const path = `/apis/${apiVersion}`;

/** For whom the policies are made. */
export interface TakeoverOptions {
  /** The TaintManager whose status is the heartbeat. */
  readonly manager: string;
  /** The users who may still mark pods: taintmgr's own user, as a SelfSubjectReview names it. */
  readonly users: readonly string[];
}

/** A policy or a binding, as the API server stores it: its defaults are spelled out. */
export interface TakeoverManifest {
  /** The version of admission policies. */
  readonly apiVersion: typeof apiVersion;
  /** A policy, or the binding that puts it in force. */
  readonly kind: 'ValidatingAdmissionPolicy' | 'ValidatingAdmissionPolicyBinding';
  /** Its name, and the version of its content as an annotation. */
  readonly metadata: {
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  /** The spec, with the defaults of the API server. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A policy with its binding. */
interface TakeoverPolicy {
  readonly policy: TakeoverManifest;
  readonly binding: TakeoverManifest;
}

/**
 * Returns both policies: one refuses evictions for taints, by the mark that goes before each
 * DELETE, the other refuses to mark pods not ready, where the leader's status says so. In the order
 * in which they are written: the last binding acts, so policies come before their bindings.
 */
export function takeoverManifests(options: TakeoverOptions): readonly TakeoverManifest[] {
  const { users, manager } = options;
  const evictions = withBinding('taintmgr-takeover', evictionsPolicy(users), manager);
  const readiness = withBinding('taintmgr-readiness', readinessPolicy(users), manager);
  return [evictions.policy, readiness.policy, evictions.binding, readiness.binding];
}

/** Returns the path of a policy or a binding. */
export function takeoverPath({
  kind,
  metadata,
}: Pick<TakeoverManifest, 'kind' | 'metadata'>): string {
  return `${takeoverCollection(kind)}/${metadata.name}`;
}

/** Where those of a kind are. */
export function takeoverCollection(kind: TakeoverManifest['kind']): string {
  const isPolicy = kind === 'ValidatingAdmissionPolicy';
  return `${path}/${isPolicy ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings'}`;
}

function withBinding(
  name: string,
  rules: Readonly<Record<string, unknown>>,
  manager: string,
): TakeoverPolicy {
  const metadata = { name, annotations: { [takeoverVersionAnnotation]: takeoverVersion } };
  const labels = { [takeoverLabel.key]: takeoverLabel.value };
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['UPDATE'],
    resources: ['pods/status'],
    scope: '*',
  };
  return {
    policy: {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        // Whatever goes wrong in here, the cluster stays as it was without us.
        failurePolicy: 'Ignore',
        // A custom resource: of built-in kinds the API server may stop to hear of changes.
        paramKind: { apiVersion: policyApiVersion, kind: 'TaintManager' },
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: { matchLabels: labels },
          objectSelector: {},
          resourceRules: [rule],
        },
        ...rules,
      },
    },
    binding: {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        paramRef: { name: manager, parameterNotFoundAction: 'Allow' },
      },
    },
  };
}

/**
 * The policies accept a heartbeat for this time. The same holds the other way round: a heartbeat
 * this far ahead of the request counts for nothing, for then the clocks differ and the living
 * leader is unknown.
 */
const windowSeconds = 60;

/** The rules of a policy beyond its purpose. */
interface PolicyRules extends Readonly<Record<string, unknown>> {
  readonly matchConditions: readonly Named[];
  readonly variables: readonly Named[];
  readonly validations: readonly {
    readonly expression: string;
    readonly messageExpression: string;
    readonly reason: 'Forbidden';
  }[];
}

interface Named {
  readonly name: string;
  readonly expression: string;
}

const renewed = 'timestamp(params.status.renewTime)';
const window = `duration('${windowSeconds}s')`;

/**
 * `now`: the API server dates the writer's fields in the same request. The time of the condition itself
 * says less: it stays where a mark is written over one of another reason, and is the writer's clock.
 * `fresh`: the leader decides for pods, and lives.
 */
const heartbeat: readonly Named[] = [
  {
    name: 'now',
    expression:
      'object.metadata.managedFields.filter(m, ' +
      "has(m.subresource) && m.subresource == 'status' && has(m.time)).map(m, timestamp(m.time)).max()",
  },
  {
    name: 'decides',
    expression:
      'has(params.status) && has(params.status.renewTime) && has(params.status.takeover) && ' +
      'has(params.status.takeover.enabled) && params.status.takeover.enabled',
  },
  {
    name: 'fresh',
    expression:
      `variables.decides && variables.now - ${renewed} <= ${window} && ` +
      `${renewed} - variables.now <= ${window}`,
  },
];

/** True for the mark of a pod that goes for a taint, with one of these reasons. */
function markedFor(...reasons: readonly string[]): string {
  const names = reasons.map((reason) => `'${reason}'`).join(', ');
  return `c.type == 'DisruptionTarget' && c.status == 'True' && has(c.reason) && c.reason in [${names}]`;
}

/** The reasons in the marks of kube-controller-manager: for taints of a node, and for those of a device. */
const ofNode = 'DeletionByTaintManager';
const ofDevice = 'DeletionByDeviceTaintManager';

const devices = 'params.status.takeover.deviceTaints';

/** Taints of devices are only held by a leader who says that it decides about them. */
const ours =
  `!object.status.conditions.exists(c, ${markedFor(ofDevice)}) || ` +
  `(has(${devices}) && ${devices})`;

const kubelets = "request.userInfo.username.startsWith('system:node:')";

/**
 * kube-controller-manager marks a pod before it deletes it, and deletes none that it could not
 * mark. So refusing the mark is enough: nothing is stored, and no DELETE follows. A writer of
 * another part of a marked pod's status leaves the mark as it is. kube-controller-manager writes
 * its mark over another one, and none over its own, so taintmgr's has another text. A kubelet
 * writes the mark once more that it has in memory when a pod ends.
 */
function evictionsPolicy(users: readonly string[]): PolicyRules {
  const conditions = (of: string): string => `${of}.status.conditions`;
  const marks = (of: string): string => `${conditions(of)}.filter(c, c.type == 'DisruptionTarget')`;
  const both = ['object', 'oldObject'].map((of) => `has(${of}.status) && has(${conditions(of)})`);
  const isSame = `${marks('object')} == ${marks('oldObject')}`;
  return {
    matchConditions: [
      notBy(users),
      { name: 'by-no-kubelet', expression: `!${kubelets}` },
      {
        name: 'taint-eviction-begins',
        expression: hasCondition('object', markedFor(ofNode, ofDevice)),
      },
      { name: 'not-begun-before', expression: `!(${[...both, isSame].join(' && ')})` },
    ],
    variables: [...heartbeat, { name: 'ours', expression: ours }],
    validations: [
      {
        expression: '!(variables.fresh && variables.ours)',
        messageExpression:
          "'taintmgr decides about this pod; its heartbeat is of ' + string(params.status.renewTime)",
        reason: 'Forbidden',
      },
    ],
  };
}

const ready = "c.type == 'Ready'";
const hold = 'params.status.takeover.holdReadiness';

/** True for nodes whose pods are held, by what the leader says. */
const heldFor = [
  `has(${hold}.all) && ${hold}.all`,
  `has(${hold}.nodes) && has(object.spec.nodeName) && object.spec.nodeName in ${hold}.nodes`,
  `has(${hold}.zones) && variables.zone != '' && variables.zone in ${hold}.zones`,
].map((one) => `(${one})`);

/**
 * node-lifecycle-controller changes Ready of the pods of a silent node, and nothing else: a writer
 * that changes ContainersReady as well has looked at the containers. The controller tries again
 * every few seconds.
 */
function readinessPolicy(users: readonly string[]): PolicyRules {
  const notReady = "c.type == 'ContainersReady' && c.status == 'False'";
  return {
    matchConditions: [
      notBy(users),
      { name: 'by-no-kubelet', expression: `!${kubelets}` },
      {
        name: 'was-ready',
        expression: hasCondition('oldObject', `${ready} && c.status == 'True'`),
      },
      {
        name: 'marked-not-ready',
        expression: hasCondition('object', `${ready} && c.status == 'False'`),
      },
      { name: 'containers-untouched', expression: `!(${hasCondition('object', notReady)})` },
    ],
    variables: [...heartbeat, { name: 'zone', expression: zoneOfPod }],
    validations: [
      {
        expression: `!(variables.fresh && has(${hold}) && (${heldFor.join(' || ')}))`,
        messageExpression: `'taintmgr holds readiness: ' + ${hold}.reason`,
        reason: 'Forbidden',
      },
    ],
  };
}

const labels = 'object.metadata.labels';
const region = "'topology.kubernetes.io/region'";
const zone = "'topology.kubernetes.io/zone'";

/** `region/zone`, or what there is of it, as the leader names zones; pods have the labels since 1.35. */
const zoneOfPod =
  `!has(${labels}) ? '' : ` +
  `(${region} in ${labels} ? ${labels}[${region}] : '') + ` +
  `(${region} in ${labels} && ${zone} in ${labels} ? '/' : '') + ` +
  `(${zone} in ${labels} ? ${labels}[${zone}] : '')`;

/** taintmgr marks pods itself. */
function notBy(users: readonly string[]): Named {
  const names = users.map((user) => JSON.stringify(user)).join(', ');
  return { name: 'not-taintmgr', expression: `!(request.userInfo.username in [${names}])` };
}

function hasCondition(object: 'object' | 'oldObject', what: string): string {
  return `has(${object}.status) && has(${object}.status.conditions) && ${object}.status.conditions.exists(c, ${what})`;
}

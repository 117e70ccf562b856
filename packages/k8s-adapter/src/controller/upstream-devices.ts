// The device-taint-eviction-controller of kube-controller-manager 1.36.2: core's machine for it behind a loop.
import type { Pod } from '@taintmgr/core';
import {
  type ClaimingPodEvent,
  type DeviceEvent,
  type DeviceResource,
  type ResourceClaim,
  type UpstreamDeviceCommand,
  UpstreamDeviceEviction,
  type UpstreamDeviceOptions,
} from '@taintmgr/core/devices';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { type Source, sourceOf, sourceOfMany } from '../pod-watch/source.ts';
import { answerValue, succeeded } from '../proto/answer.ts';
import type { Random } from '../proto/backoff.ts';
import { podFromJson } from '../proto/convert.ts';
import {
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '../proto/convert-devices.ts';
import type { ItemChange } from '../proto/inventory.ts';
import { asList, asRecord, asText, type JsonRecord } from '../proto/json.ts';
import { Reflector } from '../proto/reflector.ts';
import {
  type ApiRequest,
  applyRequest,
  deletePodRequest,
  getPodRequest,
  patchRequest,
  podPath,
  podsPath,
} from '../proto/requests.ts';
import { ControlLoop } from './loop.ts';
import type { LoopNotice } from './loop-parts.ts';
import { podEvent } from './procedures/engine.ts';
import { call, done, gone, type Procedures, refusal, type Steps, write } from './task.ts';

export interface UpstreamDeviceLoopOptions extends Omit<UpstreamDeviceOptions, 'rules'> {
  readonly random: Random;
  /** Where the kinds are served, such as `/apis/resource.k8s.io/v1/resourceslices`. */
  readonly paths: Readonly<Record<Exclude<DeviceResource, 'devicetaintrules'>, string>>;
  /** The same of DeviceTaintRules; null: gate DRADeviceTaintRules is off. */
  readonly rulesPath: string | null;
}

/** The pod of a command is about to be marked. */
interface MarkingPod {
  readonly kind: 'markingPod';
  readonly pod: DeleteForDevices['pod'];
}

export type UpstreamDeviceNotice = LoopNotice | MarkingPod;

type DeleteForDevices = Extract<UpstreamDeviceCommand, { kind: 'deleteForDevices' }>;
type ApplyRuleStatus = Extract<UpstreamDeviceCommand, { kind: 'applyRuleStatus' }>;

/** Its name as a controller: of Events, of fields that it owns, and in the word for who sends its requests. */
export const deviceTaintEviction = 'device-taint-eviction-controller';

/** It acts from the beginning; who elects tells it by an event `leadership`. */
export class UpstreamDeviceLoop extends ControlLoop<
  DeviceEvent | ClaimingPodEvent | MarkingPod,
  UpstreamDeviceCommand,
  MarkingPod
> {
  constructor(options: UpstreamDeviceLoopOptions) {
    const { random, paths, rulesPath, ...machine } = options;
    super({
      random,
      component: deviceTaintEviction,
      machine: new UpstreamDeviceEviction({ ...machine, rules: rulesPath !== null }),
      sources: deviceSources(options),
      procedures: deviceProcedures(rulesPath ?? ''),
      eventOf: (notice) => (notice.kind === 'markingPod' ? notice : null),
    });
  }
}

type Heard = DeviceEvent | ClaimingPodEvent;

/** Of the pods those alone that use claims are kept. */
function deviceSources({
  random,
  paths,
  rulesPath,
}: UpstreamDeviceLoopOptions): readonly Source<Heard>[] {
  const shared = { random, watch: true, selectors: {} };
  const claiming = (value: unknown): Pod | null => {
    const pod = podFromJson(value);
    return pod.claims ? pod : null;
  };
  const pods = new Reflector<Pod>({
    ...shared,
    resource: 'pods',
    path: podsPath,
    project: claiming,
  });
  const claims = new Reflector({
    ...{ ...shared, resource: 'resourceclaims', path: paths.resourceclaims },
    project: resourceClaimFromJson,
  });
  const slices = new Reflector({
    ...{ ...shared, resource: 'resourceslices', path: paths.resourceslices },
    project: resourceSliceFromJson,
  });
  const claimNames: ClaimNames = new Map();
  const sources: Source<Heard>[] = [
    sourceOf(pods, podEventOf),
    sourceOfMany(claims, (change) => claimEventsOf(change, claimNames)),
    sourceOf(slices, (change) =>
      change.kind === 'upsert'
        ? { kind: 'resourceSliceUpsert', slice: change.item }
        : { kind: 'resourceSliceDelete', name: change.name },
    ),
  ];
  if (rulesPath === null) return sources;
  const rules = new Reflector({
    ...{ ...shared, resource: 'devicetaintrules', path: rulesPath },
    project: deviceTaintRuleFromJson,
  });
  const ofRules = sourceOf<ReturnType<typeof deviceTaintRuleFromJson>, Heard>(rules, (change) =>
    change.kind === 'upsert'
      ? { kind: 'deviceTaintRuleUpsert', rule: change.item }
      : { kind: 'deviceTaintRuleDelete', name: change.name },
  );
  return [...sources, ofRules];
}

type ClaimNames = Map<string, Pick<ResourceClaim, 'namespace' | 'name'>>;

/** A claim that is gone is named by its uid alone. */
function claimEventsOf(change: ItemChange<ResourceClaim>, names: ClaimNames): readonly Heard[] {
  if (change.kind === 'upsert') {
    const { uid, namespace, name } = change.item;
    names.set(uid, { namespace, name });
    return [{ kind: 'resourceClaimUpsert', claim: change.item }];
  }
  const known = names.get(change.uid);
  names.delete(change.uid);
  return known ? [{ kind: 'resourceClaimDelete', ...known }] : [];
}

function podEventOf(change: ItemChange<Pod>): Heard {
  return change.kind === 'upsert'
    ? { kind: 'podUpsert', pod: change.item }
    : { kind: 'podDelete', uid: change.uid };
}

/** `rulesPath`: '' where there are no commands about rules. */
export function deviceProcedures(rulesPath: string): Procedures<UpstreamDeviceCommand, MarkingPod> {
  return {
    deleteForDevices: (command) => ({
      ...{ kind: 'task', id: command.id, steps: deleteForDevices(command) },
    }),
    applyRuleStatus: (command) => ({
      ...{ kind: 'task', id: command.id, steps: write(ruleStatusRequest(rulesPath, command)) },
    }),
    recordDeviceEvent: (command) => ({
      ...{ kind: 'event', event: podEvent({ ...command, type: 'Normal' }) },
    }),
  };
}

function* deleteForDevices({
  pod,
}: DeleteForDevices): Steps<ReturnType<typeof refusal>, MarkingPod> {
  const { answer, wall } = yield* call(getPodRequest(pod));
  if (!succeeded(answer)) return refusal(answer);
  const found = asRecord(answerValue(answer));
  const { uid, deletionTimestamp } = asRecord(found.metadata);
  if (uid !== pod.uid) return gone;
  if (deletionTimestamp !== undefined) return done;
  let notice: MarkingPod | null = { kind: 'markingPod', pod };
  const mark = markRequest(pod, found, wall);
  if (mark) {
    const marked = yield* call(mark, notice);
    if (!succeeded(marked.answer)) return refusal(marked.answer);
    notice = null;
  }
  const deleted = yield* call(deletePodRequest(pod, { guard: 'uid' }), notice);
  return succeeded(deleted.answer) ? done : refusal(deleted.answer);
}

/**
 * The patch that client-go makes of the pod's status as read and as it is to be: of a condition that is there only
 * what differs, and with others beside it their order. Null: nothing differs.
 */
function markRequest(
  pod: DeleteForDevices['pod'],
  found: JsonRecord,
  wall: Instant,
): ApiRequest | null {
  const conditions = asList(asRecord(found.status).conditions).map(asRecord);
  const known = conditions.find(({ type }) => type === disruption.type);
  const isTrue = known?.status === disruption.status;
  const wanted = {
    ...disruption,
    lastProbeTime: null,
    lastTransitionTime: isTrue ? known.lastTransitionTime : formatTime(wall),
  };
  const differing = Object.entries(wanted).filter(
    ([field, value]) => !known || (known[field] ?? null) !== value,
  );
  if (differing.length === 0) return null;
  const types = [...new Set([...conditions.map(({ type }) => asText(type)), disruption.type])];
  const status = {
    ...(conditions.length > 0 && {
      '$setElementOrder/conditions': types.map((type) => ({ type })),
    }),
    conditions: [{ ...Object.fromEntries(differing), type: disruption.type }],
  };
  return patchRequest('strategicMerge', `${podPath(pod)}/status`, {
    metadata: { uid: pod.uid },
    status,
  });
}

const disruption = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByDeviceTaintManager',
  message: 'Device Taint manager: deleting due to NoExecute taint',
};

/** Server-side apply: it owns the condition whatever others wrote there. */
function ruleStatusRequest(rulesPath: string, { rule, condition }: ApplyRuleStatus): ApiRequest {
  const { transitionAt, ...said } = condition;
  const apiVersion = rulesPath.split('/').slice(2, 4).join('/');
  const lastTransitionTime = formatTime(transitionAt ?? 0);
  const conditions = [{ type: 'EvictionInProgress', ...said, lastTransitionTime }];
  const object = { kind: 'DeviceTaintRule', apiVersion, metadata: rule, status: { conditions } };
  const path = `${rulesPath}/${encodeURIComponent(rule.name)}/status`;
  return applyRequest(path, object, {
    fieldManager: deviceTaintEviction,
    force: true,
    dryRun: false,
  });
}

// The device-taint-eviction-controller of kube-controller-manager 1.36.2: core's machine for it behind a loop.
import type { Outcome, Pod } from '@taintmgr/core';
import {
  type ClaimingPodEvent,
  type DeviceEvent,
  type UpstreamDeviceCommand,
  UpstreamDeviceEviction,
  type UpstreamDeviceOptions,
} from '@taintmgr/core/devices';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { type Source, sourceOf } from '../pod-watch/source.ts';
import { answerValue, succeeded } from '../proto/answer.ts';
import type { Random } from '../proto/backoff.ts';
import { podFromJson } from '../proto/convert.ts';
import type { DevicePaths } from '../proto/device-requests.ts';
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
import { DeviceSight, deviceSources } from './device-sources.ts';
import { ControlLoop } from './loop.ts';
import type { LoopNotice } from './loop-parts.ts';
import { podEvent } from './procedures/engine.ts';
import { call, done, gone, type Procedures, refusal, type Steps, write } from './task.ts';

/** The choices of an UpstreamDeviceLoop. */
export interface UpstreamDeviceLoopOptions extends Omit<UpstreamDeviceOptions, 'rules'> {
  /** Randomness for waits, e.g. Math.random. */
  readonly random: Random;
  /** Where the kinds are served; DeviceTaintRules null: or gate DRADeviceTaintRules is off. */
  readonly paths: DevicePaths;
}

/** The pod of a command is about to be marked. */
interface MarkingPod {
  readonly kind: 'markingPod';
  readonly pod: DeleteForDevices['pod'];
}

/** A round of a pod has ended; what has failed is tried again. */
interface DeviceEvictionFinished {
  readonly kind: 'deviceEvictionFinished';
  readonly command: DeleteForDevices;
  readonly outcome: Outcome;
}

type CommandNotice = MarkingPod | DeviceEvictionFinished;

/** The reports of an UpstreamDeviceLoop. */
export type UpstreamDeviceNotice = LoopNotice | CommandNotice;

/** The events that the machine gets beside those of its loop. */
export type UpstreamDeviceHeard =
  | DeviceEvent
  | ClaimingPodEvent
  | MarkingPod
  /** Reported by the elector. */
  | { readonly kind: 'leadership'; readonly held: boolean };

type DeleteForDevices = Extract<UpstreamDeviceCommand, { kind: 'deleteForDevices' }>;
type ApplyRuleStatus = Extract<UpstreamDeviceCommand, { kind: 'applyRuleStatus' }>;

/** Its name as a controller: of Events, of fields that it owns, and in the word for who sends its requests. */
export const deviceTaintEviction = 'device-taint-eviction-controller';

/**
 * A loop that acts as the device-taint-eviction-controller of kube-controller-manager 1.36.2. The
 * loop acts from the beginning; its elector reports the leadership by an event `leadership`.
 */
export class UpstreamDeviceLoop extends ControlLoop<
  UpstreamDeviceHeard,
  UpstreamDeviceCommand,
  CommandNotice
> {
  constructor(options: UpstreamDeviceLoopOptions) {
    const { random, paths, ...machine } = options;
    const rulesPath = paths.devicetaintrules;
    super({
      random,
      component: deviceTaintEviction,
      machine: new UpstreamDeviceEviction({ ...machine, rules: rulesPath !== null }),
      sources: sourcesOf(options),
      procedures: deviceProcedures(rulesPath ?? ''),
      eventOf: (notice) => (notice.kind === 'markingPod' ? notice : null),
    });
  }
}

/** Of the pods those alone that use claims are kept. */
function sourcesOf({
  random,
  paths,
}: UpstreamDeviceLoopOptions): readonly Source<DeviceEvent | ClaimingPodEvent>[] {
  const shared = { random, watch: true, streamLists: true };
  const pods = new Reflector<Pod>({
    ...{ ...shared, resource: 'pods', path: podsPath, selectors: {} },
    project: (value) => {
      const pod = podFromJson(value);
      return pod.claims ? pod : null;
    },
  });
  const ofPods = sourceOf(
    pods,
    (change): ClaimingPodEvent =>
      change.kind === 'upsert'
        ? { kind: 'podUpsert', pod: change.item }
        : { kind: 'podDelete', uid: change.uid },
  );
  return [ofPods, ...deviceSources(new DeviceSight(paths), shared)];
}

/** `rulesPath`: '' where there are no commands about rules. */
function deviceProcedures(rulesPath: string): Procedures<UpstreamDeviceCommand, CommandNotice> {
  return {
    deleteForDevices: (command) => ({
      ...{ kind: 'task', id: command.id, steps: deleteForDevices(command) },
      ended: (outcome) => ({ kind: 'deviceEvictionFinished', command, outcome }),
    }),
    applyRuleStatus: (command) => ({
      ...{ kind: 'task', id: command.id, steps: write(ruleStatusRequest(rulesPath, command)) },
    }),
    recordDeviceEvent: (command) => ({
      ...{ kind: 'event', event: podEvent({ ...command, type: 'Normal' }) },
    }),
  };
}

function* deleteForDevices({ pod }: DeleteForDevices): Steps<Outcome, MarkingPod> {
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
 * The patch that client-go makes from the pod's status as read and as wanted: only the differences
 * of an existing condition, and with others beside it their order. Null: nothing differs.
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

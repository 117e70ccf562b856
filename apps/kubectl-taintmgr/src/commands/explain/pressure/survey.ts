// What is read of a node and its kubelet, and what the node pressure machine says of it.

import type { NodeCondition } from '@taintmgr/core';
import {
  createPressureMachine,
  type PressureExplanation,
  type PressureSettingsInput,
  parseEvictionFlag,
  readSummary,
} from '@taintmgr/core/pressure';
import type { Instant } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  getNodeRequest,
  nodeFromJson,
  podsPath,
  pressureNodeFromJson,
  pressurePodFromJson,
  summaryRequest,
} from '@taintmgr/k8s-adapter';
import type { PressureFlags } from './flags.ts';

/** Where the thresholds come from. */
type ThresholdSource = 'kubelet' | 'flags' | 'defaults';

/** What was read about the pressure on a node, and what follows from it. */
export interface PressureSurvey {
  readonly at: Instant;
  readonly source: ThresholdSource;
  readonly semantics: PressureFlags['semantics'];
  readonly settings: PressureSettingsInput;
  /** What the node says of itself, the kubelet's and ours. */
  readonly conditions: readonly NodeCondition[];
  readonly explanation: PressureExplanation;
  /** Why the configuration of the kubelet could not be read; null: it was, or was not needed. */
  readonly refused: string | null;
}

/**
 * Reads a node, its pods, what is used there, and the thresholds of its kubelet where the flags name
 * none. A kubelet that does not answer is part of the explanation. Throws ApiError for a node that
 * is not there and for want of rights, ConnectionError, and RangeError for wrong thresholds.
 */
export async function surveyPressure(
  client: ApiClient,
  name: string,
  flags: PressureFlags,
): Promise<PressureSurvey> {
  const node = await client.send(getNodeRequest(name));
  const pods = await client.list(podsPath, { fieldSelector: `spec.nodeName=${name}` });
  const { settings, source, refused } = await readSettings(client, name, flags);
  const { semantics } = flags;
  const machine = createPressureMachine({ semantics, settings, leader: false });
  const summary = await readOrFail(() => client.send(summaryRequest(name)));
  const at = Date.now();
  machine.handle(at, { kind: 'pressureNode', node: pressureNodeFromJson(node) });
  for (const pod of pods) {
    machine.handle(at, { kind: 'pressurePod', pod: pressurePodFromJson(pod) });
  }
  if (summary instanceof ApiError) {
    const { message } = summary.failure;
    machine.handle(at, { kind: 'observationFailed', nodeName: name, message });
  } else {
    machine.handle(at, { kind: 'observed', nodeName: name, observation: readSummary(summary) });
  }
  const explanation = machine.explain(at, name);
  if (!explanation) throw new Error(`node ${name} was read and is not known`);
  const { conditions = [] } = nodeFromJson(node);
  return { at, source, semantics, settings, conditions, explanation, refused };
}

interface ReadSettings {
  readonly settings: PressureSettingsInput;
  readonly source: ThresholdSource;
  readonly refused: string | null;
}

async function readSettings(
  client: ApiClient,
  name: string,
  flags: PressureFlags,
): Promise<ReadSettings> {
  const given = settingsOf(flags);
  if (given) return { settings: given, source: 'flags', refused: null };
  const path = `/api/v1/nodes/${encodeURIComponent(name)}/proxy/configz`;
  try {
    const answer = (await client.get(path)) as { kubeletconfig?: KubeletConfig } | null;
    return {
      settings: kubeletSettings(answer?.kubeletconfig ?? {}),
      source: 'kubelet',
      refused: null,
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { settings: {}, source: 'defaults', refused: error.failure.message };
  }
}

/** The thresholds of the flags; null where they name none. */
function settingsOf(flags: PressureFlags): PressureSettingsInput | null {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = flags;
  if (evictionHard === undefined && evictionSoft === undefined) return null;
  return {
    evictionHard: parseEvictionFlag(evictionHard ?? '', '<'),
    evictionSoft: parseEvictionFlag(evictionSoft ?? '', '<'),
    evictionSoftGracePeriod: parseEvictionFlag(evictionSoftGracePeriod ?? '', '='),
    evictionMinimumReclaim: parseEvictionFlag(evictionMinimumReclaim ?? '', '='),
  };
}

/** The fields of a KubeletConfiguration that matter; null is as good as nothing. */
type KubeletConfig = {
  readonly [Field in keyof PressureSettingsInput]?: PressureSettingsInput[Field] | null;
};

const kubeletFields = [
  'evictionHard',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionMinimumReclaim',
  'evictionPressureTransitionPeriod',
  'evictionMaxPodGracePeriod',
  'mergeDefaultEvictionSettings',
  'localStorageCapacityIsolation',
  'enforceNodeAllocatable',
] as const satisfies readonly (keyof PressureSettingsInput)[];

function kubeletSettings(config: KubeletConfig): PressureSettingsInput {
  return Object.fromEntries(
    kubeletFields.flatMap((field) => (config[field] == null ? [] : [[field, config[field]]])),
  );
}

/** The answer, or the error of a kubelet that does not give one; want of rights is thrown. */
async function readOrFail(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    const status = error instanceof ApiError ? (error.failure.status ?? 0) : 0;
    if (status >= 500) return error;
    throw error;
  }
}

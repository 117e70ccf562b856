// The DeviceTaintRules of the cluster, as status shows them: the pods that each evicts, and the time of the
// next eviction.
import { formatTaint } from '@taintmgr/core';
import type { DeviceTaintRule } from '@taintmgr/core/devices';
import { earliest, type Instant } from '@taintmgr/core/time';
import { deadline, soon, taintDocument } from '@taintmgr/k8s-adapter/explain';
import {
  type ClusterReader,
  type ForecastSurvey,
  readDeviceRules,
} from '@taintmgr/k8s-adapter/survey';
import { type Column, renderColumns, type TableOptions } from '../../render/table.ts';
import { selectorText } from '../../report/devices.ts';

/** The rules as a table and as documents. */
export interface RuleSection {
  readonly table: (options: TableOptions) => string;
  readonly documents: readonly object[];
}

/** A rule and its reach. */
interface RuleStatus {
  readonly rule: DeviceTaintRule;
  /** Published devices that it selects. */
  readonly devices: number;
  /** Pods that it makes go, or would if its effect were NoExecute. */
  readonly pods: number;
  /** The time of the first eviction for it; null: none; undefined: unknown. */
  readonly nextAt: Instant | null | undefined;
}

/** Every rule; null: there is none, or they may not be read. */
export async function ruleSection(
  reader: ClusterReader,
  { at, pods }: Pick<ForecastSurvey, 'at' | 'pods'>,
): Promise<RuleSection | null> {
  const read = await readDeviceRules(reader, pods);
  if (!read) return null;
  const rules = read.rules.map((rule): RuleStatus => {
    const reach = read.devices.reachOf(rule);
    const pods = reach.pods.filter(({ pod }) => pod.deletionTimestamp === null);
    const isActing = rule.taint.effect === 'NoExecute' && pods.length > 0;
    const firstAt = isActing ? earliest(pods.map(({ causes: [first] }) => first.at)) : null;
    const isUnread = rule.unreadSelection !== undefined && rule.taint.effect === 'NoExecute';
    const isUnheeded = isActing && read.devices.actsOnRules === false;
    const nextAt = isUnread || isUnheeded ? undefined : firstAt;
    return { rule, devices: reach.published.length, pods: pods.length, nextAt };
  });
  return {
    table: (options) => renderColumns(ruleColumns(at), rules, options),
    documents: rules.map(ruleDocument),
  };
}

/** `PodsPendingEviction`; `-`: kube-controller-manager has said nothing of the rule as it is. */
function progressText({ generation, progress }: DeviceTaintRule): string {
  if (progress === null) return '-';
  return progress.observedGeneration === generation ? progress.reason : `${progress.reason} (old)`;
}

function nextText(nextAt: RuleStatus['nextAt'], at: Instant): string {
  if (nextAt === undefined) return 'unknown';
  return nextAt === null ? '-' : soon(nextAt - at);
}

function ruleColumns(at: Instant): readonly Column<RuleStatus>[] {
  const ifRead = (cell: (one: RuleStatus) => string) => (one: RuleStatus) =>
    one.rule.unreadSelection ? 'unknown' : cell(one);
  return [
    ['DEVICETAINTRULE', ({ rule }) => rule.name],
    ['TAINT', ({ rule }) => formatTaint(rule.taint), { below: 'taint' }],
    ['SELECTS', ({ rule }) => selectorText(rule), { below: 'selects' }],
    ['DEVICES', ifRead(({ devices }) => String(devices))],
    ['PODS', ifRead(({ pods }) => String(pods))],
    ['NEXT', ({ nextAt }) => nextText(nextAt, at)],
    ['UPSTREAM SAYS', ({ rule }) => progressText(rule)],
  ];
}

function ruleDocument({ rule, devices, pods, nextAt }: RuleStatus): object {
  const { name, taint, progress, generation } = rule;
  return {
    name,
    taint: taintDocument(taint),
    selects: selectorText(rule),
    ...(rule.unreadSelection ? { devices: null, pods: null } : { devices, pods }),
    nextAt: deadline(nextAt ?? null),
    ...(progress && {
      upstream: {
        reason: progress.reason,
        message: progress.message,
        isCurrent: progress.observedGeneration === generation,
      },
    }),
  };
}

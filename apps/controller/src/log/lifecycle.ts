import {
  describeHold,
  describeLifecycleReason,
  formatTaint,
  formatTime,
  type LifecycleReport,
  type NodeCommand,
} from '@taintmgr/core';
import type { Notice } from '@taintmgr/k8s-adapter';
import { formatWait, type Line, line } from './line.ts';

/** Log lines about nodes and zones. `now` is for times given as a wait. */
export function lifecycleLine(report: LifecycleReport, now: number): Line {
  switch (report.kind) {
    case 'zone': {
      const { name, state, ready, notReady, rate } = report.zone;
      const fields = { zone: name, from: report.from, to: state ?? 'none', ready, notReady, rate };
      const level = state === 'Normal' || state === 'Initial' ? 'info' : 'warn';
      return line(level, 'zone state changed', fields);
    }
    case 'zoneHold': {
      const { zone, hold, deadlines } = report;
      const paused = deadlines === null ? {} : { deadlines };
      if (hold === null) return line('info', 'zone is no longer held', { zone, ...paused });
      const fields = { zone, because: describeHold(hold), ...paused };
      return line('warn', 'zone is held: no nodes are tainted', fields);
    }
    case 'nodeLost': {
      const since = formatTime(report.heardAt);
      return line('warn', 'node is unreachable', { node: report.node.name, since });
    }
    case 'writeFailed': {
      const { node, write, outcome, at } = report;
      const error = 'message' in outcome ? outcome.message : outcome.kind;
      const fields = { node: node.name, write, next: formatWait(at - now), error };
      return line('warn', 'could not write to a node, will try again', fields);
    }
    case 'podMarkFailed': {
      const { target, attempt, outcome, at } = report;
      const pod = `${target.namespace}/${target.name}`;
      const fields = {
        pod,
        node: target.nodeName,
        attempt,
        next: formatWait(at - now),
        error: outcome.message,
      };
      return line(
        'warn',
        'could not mark a pod of an unreachable node not ready, will try again',
        fields,
      );
    }
    case 'ruleDryRun': {
      const { node, rule, change } = report;
      return line('info', 'dry run: rule would change a taint', {
        node: node.name,
        rule,
        change,
      });
    }
    case 'ruleLimit':
      return line('warn', 'rule has reached its limit of tainted nodes', {
        node: report.node.name,
        rule: report.rule,
      });
  }
}

const written = {
  changeTaints: 'changed taints of a node',
  setNodeConditions: 'set conditions of a node',
  setNodeLabels: 'set labels of a node',
  markPodNotReady: 'marked a pod of an unreachable node not ready',
  markPodLost: 'marked a pod of an unreachable node for deletion',
} as const;

/** What the log says about a write to a node, or to a pod on its account; failures are reported. */
export function nodeWriteLine({
  command,
  outcome,
  took,
}: Extract<Notice, { kind: 'nodeWriteFinished' }>): Line {
  const target =
    'node' in command
      ? { node: command.node.name }
      : { pod: `${command.pod.namespace}/${command.pod.name}`, node: command.pod.nodeName };
  const fields = { ...target, ...taintFields(command), took: `${Math.round(took)}ms` };
  if (outcome.kind === 'done') return line('info', written[command.kind], fields);
  const error = 'message' in outcome ? outcome.message : outcome.kind;
  return line('debug', `${command.kind} ${outcome.kind}`, { ...fields, error });
}

function taintFields(command: NodeCommand): Line['fields'] {
  if (command.kind !== 'changeTaints') return {};
  const { add, remove, because } = command;
  const reasons = because.map(describeLifecycleReason).join('; ');
  return {
    ...(add.length > 0 && { add: add.map(formatTaint).join(',') }),
    ...(remove.length > 0 && {
      remove: remove.map(({ key, effect }) => `${key}:${effect}`).join(','),
    }),
    ...(reasons !== '' && { because: reasons }),
  };
}

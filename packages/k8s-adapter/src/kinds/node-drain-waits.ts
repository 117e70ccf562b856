// What NodeDrains wait for, and whom they heed.
import { duration, filledText, text, word } from './fields.ts';

const objectState = {
  type: 'object',
  description: 'An object, and what it has to say.',
  required: ['apiVersion', 'kind', 'name'],
  properties: {
    apiVersion: {
      type: 'string',
      description: 'Its group and version: v1, or group/version.',
      maxLength: 317,
      rules: [
        {
          matches: '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$',
          message: 'want an apiVersion such as v1 or example.com/v1beta1',
        },
      ],
    },
    kind: filledText('Its kind.', 63),
    namespace: filledText('Where it is, unless it belongs to the cluster.', 63),
    name: filledText('Its name; {node} in it stands for the name of the node, in hooks.', 253),
    condition: {
      type: 'object',
      description: 'It has this condition in status.conditions.',
      required: ['type'],
      properties: {
        type: filledText('Its type.', 316),
        status: word('Its status.', ['False', 'True', 'Unknown'], 'True'),
      },
    },
    annotation: {
      type: 'object',
      description: 'It has this annotation.',
      required: ['key', 'value'],
      properties: {
        key: filledText('Its key.', 317),
        value: text('Its value.', 1024),
      },
    },
  },
  rules: [
    {
      cel: 'has(self.condition) != has(self.annotation)',
      message: 'want a condition or an annotation',
      holds: (self: { condition?: unknown; annotation?: unknown }): boolean =>
        (self.condition !== undefined) !== (self.annotation !== undefined),
    },
  ],
} as const;

const drainWindow = {
  type: 'object',
  description: 'A time that comes again and again.',
  required: ['schedule', 'duration'],
  properties: {
    schedule: {
      type: 'string',
      description: 'When it opens, in five fields of cron: 0 2 * * SAT.',
      maxLength: 128,
      rules: [
        {
          matches: '^[-0-9A-Za-z*,/]+( +[-0-9A-Za-z*,/]+){4}$',
          message: 'want five fields: minute, hour, day of month, month and day of week',
        },
      ],
    },
    timeZone: {
      type: 'string',
      description: 'By whose clocks, such as Europe/Berlin.',
      minLength: 1,
      maxLength: 64,
      default: 'Etc/UTC',
    },
    duration: {
      type: 'shared',
      name: 'duration',
      description: 'How long it stays open.',
      rules: [
        {
          matches: '^([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+$',
          message: 'want a duration such as 30s, 10m or 1h30m',
        },
        { matches: '[1-9]', message: 'want a duration longer than 0' },
      ],
    },
  },
} as const;

const drainGate = {
  type: 'object',
  description: 'One that cannot be asked is closed.',
  required: ['name'],
  properties: {
    name: filledText('What it is called in the status.', 63),
    object: { ...objectState, description: 'It is open while this object says so.' },
    noAlerts: {
      type: 'object',
      description: 'It is open while this query of Prometheus answers nothing.',
      required: ['url', 'query'],
      properties: {
        url: {
          type: 'string',
          description: 'Where its HTTP API is: http://prometheus.monitoring:9090.',
          maxLength: 512,
          rules: [
            {
              matches: '^https?://[^/?#@ ]+(/[^?# ]*)?$',
              message: 'want http://HOST or https://HOST, with a port and a path if need be',
            },
          ],
        },
        query: filledText('In PromQL: ALERTS{alertstate="firing",severity="critical"}.', 2048),
        timeout: {
          type: 'shared',
          name: 'duration',
          description: 'How long an answer is waited for.',
          default: '5s',
        },
      },
    },
  },
  rules: [
    {
      cel: 'has(self.object) != has(self.noAlerts)',
      message: 'want an object or noAlerts',
      holds: (self: { object?: unknown; noAlerts?: unknown }): boolean =>
        (self.object !== undefined) !== (self.noAlerts !== undefined),
    },
  ],
} as const;

const drainHook = {
  type: 'object',
  description: 'A step of somebody else, which is done when an object says so.',
  required: ['name', 'object'],
  properties: {
    name: filledText('What it is called in the status.', 63),
    object: objectState,
    timeout: duration('How long the node waits for it; left out: for ever.'),
    onTimeout: word(
      'Fail: the node has failed. GoOn: as though the step were done.',
      ['Fail', 'GoOn'],
      'Fail',
    ),
  },
} as const;

const drainHeeds = {
  type: 'object',
  description: 'What others ask for.',
  properties: {
    podAnnotations: {
      type: 'array',
      description:
        'Annotations that hold a pod: safe-to-evict where it is "false", do-not-disrupt where it is "true".',
      maxItems: 2,
      items: {
        type: 'string',
        enum: ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'karpenter.sh/do-not-disrupt'],
      },
    },
    nodeAnnotations: {
      type: 'array',
      description:
        'Annotations that hold a node as the pauseLabel does: do-not-disrupt where it is "true".',
      maxItems: 1,
      items: { type: 'string', enum: ['karpenter.sh/do-not-disrupt'] },
    },
    pauseLabel: {
      type: 'string',
      description:
        'The key of a label: a node that has it, whatever its value, is not begun, and no further pod of it leaves.',
      maxLength: 317,
      rules: [
        {
          matches:
            '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
          message: 'want the key of a label such as example.com/keep',
        },
      ],
    },
  },
} as const;

/** The fields of a spec that say what a drain waits for, and whom it heeds. */
export const waitFields = {
  heeds: { ...drainHeeds, default: {} },
  nodeConditions: word(
    'Publish: the conditions MaintenancePlanned, DrainInProgress and Drained of its nodes (KEP-5683) say how far it is, and a node that somebody else drains by them is not begun.',
    ['Ignore', 'Publish'],
    'Ignore',
  ),
  windows: {
    type: 'array',
    description: 'When nodes may begin; left out: at all times. One window that is open is enough.',
    maxItems: 16,
    items: drainWindow,
  },
  gates: {
    type: 'array',
    description: 'Nodes begin only while all of these are open.',
    maxItems: 16,
    items: drainGate,
  },
  whileClosed: word(
    'What becomes of nodes that have begun when all windows close, or a gate does. FinishNodes: they are finished. HoldPods: no further pod leaves until they open. RollBack: the taint and cordon of nodes that still have pods are taken back, and they begin anew.',
    ['FinishNodes', 'HoldPods', 'RollBack'],
    'FinishNodes',
  ),
  beforeNode: {
    type: 'array',
    description: 'What a node waits for when it is cordoned and tainted, before its pods leave.',
    maxItems: 16,
    items: drainHook,
  },
  afterNode: {
    type: 'array',
    description: 'What it waits for when they are gone, before it counts as drained.',
    maxItems: 16,
    items: drainHook,
  },
} as const;

// What NodeDrains wait for, and whom they heed.
import {
  duration,
  eitherOf,
  filledText,
  keyText,
  list,
  object,
  pattern,
  text,
  word,
} from './fields.ts';

const objectState = object(
  'An object, and what it has to say.',
  {
    apiVersion: pattern(
      'Its group and version: v1, or group/version.',
      317,
      '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$',
      'want an apiVersion such as v1 or example.com/v1beta1',
    ),
    kind: filledText('Its kind.', 63),
    namespace: filledText('Where it is, unless it belongs to the cluster.', 63),
    name: filledText('Its name; {node} in it stands for the name of the node, in hooks.', 253),
    condition: object(
      'It has this condition in status.conditions.',
      {
        type: filledText('Its type.', 316),
        status: word('Its status.', ['False', 'True', 'Unknown'], 'True'),
      },
      { required: ['type'] },
    ),
    annotation: object(
      'It has this annotation.',
      {
        key: filledText('Its key.', 317),
        value: text('Its value.', 1024),
      },
      { required: ['key', 'value'] },
    ),
  },
  {
    required: ['apiVersion', 'kind', 'name'],
    rules: [eitherOf('condition', 'annotation', 'want a condition or an annotation')],
  },
);

const drainWindow = object(
  'A time that comes again and again.',
  {
    schedule: pattern(
      'When it opens, in five fields of cron: 0 2 * * SAT.',
      128,
      '^[-0-9A-Za-z*,/]+( +[-0-9A-Za-z*,/]+){4}$',
      'want five fields: minute, hour, day of month, month and day of week',
    ),
    timeZone: {
      type: 'string',
      description: 'By whose clocks, such as Europe/Berlin.',
      minLength: 1,
      maxLength: 64,
      default: 'Etc/UTC',
    },
    duration: {
      ...duration('How long it stays open.'),
      rules: [
        {
          matches: '^([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+$',
          message: 'want a duration such as 30s, 10m or 1h30m',
        },
        { matches: '[1-9]', message: 'want a duration longer than 0' },
      ],
    },
  },
  { required: ['schedule', 'duration'] },
);

const drainGate = object(
  'One that cannot be asked is closed.',
  {
    name: filledText('What it is called in the status.', 63),
    object: { ...objectState, description: 'It is open while this object says so.' },
    noAlerts: object(
      'It is open while this query of Prometheus answers nothing.',
      {
        url: pattern(
          'Where its HTTP API is: http://prometheus.monitoring:9090.',
          512,
          '^https?://[^/?#@ ]+(/[^?# ]*)?$',
          'want http://HOST or https://HOST, with a port and a path if need be',
        ),
        query: filledText('In PromQL: ALERTS{alertstate="firing",severity="critical"}.', 2048),
        timeout: { ...duration('How long an answer is waited for.'), default: '5s' },
      },
      { required: ['url', 'query'] },
    ),
  },
  {
    required: ['name'],
    rules: [eitherOf('object', 'noAlerts', 'want an object or noAlerts')],
  },
);

const drainHook = object(
  'A step of somebody else, which is done when an object says so.',
  {
    name: filledText('What it is called in the status.', 63),
    object: objectState,
    timeout: duration('How long the node waits for it; left out: for ever.'),
    onTimeout: word(
      'Fail: the node has failed. GoOn: as though the step were done.',
      ['Fail', 'GoOn'],
      'Fail',
    ),
  },
  { required: ['name', 'object'] },
);

const drainHeeds = object('What others ask for.', {
  podAnnotations: list(
    'Annotations that hold a pod: safe-to-evict where it is "false", do-not-disrupt where it is "true".',
    2,
    {
      type: 'string',
      enum: ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'karpenter.sh/do-not-disrupt'],
    },
  ),
  nodeAnnotations: list(
    'Annotations that hold a node as the pauseLabel does: do-not-disrupt where it is "true".',
    1,
    { type: 'string', enum: ['karpenter.sh/do-not-disrupt'] },
  ),
  pauseLabel: keyText(
    'The key of a label: a node that has it, whatever its value, is not begun, and no further pod of it leaves.',
    'want the key of a label such as example.com/keep',
  ),
});

/** The fields of a spec that say what a drain waits for, and whom it heeds. */
export const waitFields = {
  heeds: { ...drainHeeds, default: {} },
  nodeConditions: word(
    'Publish: the conditions MaintenancePlanned, DrainInProgress and Drained of its nodes (KEP-5683) say how far it is, and a node that somebody else drains by them is not begun.',
    ['Ignore', 'Publish'],
    'Ignore',
  ),
  windows: list(
    'When nodes may begin; left out: at all times. One window that is open is enough.',
    16,
    drainWindow,
  ),
  gates: list('Nodes begin only while all of these are open.', 16, drainGate),
  whileClosed: word(
    'What becomes of nodes that have begun when all windows close, or a gate does. FinishNodes: they are finished. HoldPods: no further pod leaves until they open. RollBack: the taint and cordon of nodes that still have pods are taken back, and they begin anew.',
    ['FinishNodes', 'HoldPods', 'RollBack'],
    'FinishNodes',
  ),
  beforeNode: list(
    'What a node waits for when it is cordoned and tainted, before its pods leave.',
    16,
    drainHook,
  ),
  afterNode: list(
    'What it waits for when they are gone, before it counts as drained.',
    16,
    drainHook,
  ),
} as const;

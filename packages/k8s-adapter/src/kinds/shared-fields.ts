// Schemas of fields that several kinds have.
import { natural, text, word } from './fields.ts';

/** By the names that fields call them by. */
export const sharedSchemas = {
  duration: {
    type: 'string',
    description: 'A duration such as 30s, 10m or 1h30m.',
    maxLength: 32,
    rules: [
      {
        matches: '^(0|([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+)$',
        message: 'want a duration such as 30s, 10m or 1h30m',
      },
    ],
  },
  time: {
    type: 'string',
    format: 'date-time',
    description: 'A time such as 2026-01-31T18:00:00Z.',
    maxLength: 64,
  },
  labelSelector: {
    type: 'object',
    description: 'Everything in it must hold; an empty one selects everything.',
    properties: {
      matchLabels: {
        type: 'map',
        description: 'The labels that must be there, with these values.',
        maxProperties: 32,
        values: {
          type: 'string',
          maxLength: 63,
          rules: [
            {
              matches: '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$',
              message: "want letters, digits, '-', '_' and '.'",
            },
          ],
        },
      },
      matchExpressions: {
        type: 'array',
        description: 'Requirements of labels.',
        // With more, rules of lists of selectors may cost more than an API server allows.
        maxItems: 16,
        items: {
          type: 'object',
          description: 'A requirement of one label.',
          required: ['key', 'operator'],
          properties: {
            key: {
              type: 'string',
              description: 'The key of the label.',
              maxLength: 317,
              rules: [
                {
                  matches:
                    '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
                  message: 'want a label key such as app or example.com/app',
                },
              ],
            },
            operator: word('How the label has to stand to the values.', [
              'DoesNotExist',
              'Exists',
              'In',
              'NotIn',
            ]),
            values: {
              type: 'array',
              description: 'Only for In and NotIn.',
              maxItems: 32,
              items: {
                type: 'string',
                maxLength: 63,
                rules: [
                  {
                    matches: '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$',
                    message: "want letters, digits, '-', '_' and '.'",
                  },
                ],
              },
            },
          },
          rules: [
            {
              cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
              message: 'want values with In and NotIn, none with Exists and DoesNotExist',
              holds: (self: { operator: string; values?: readonly string[] }): boolean =>
                ['In', 'NotIn'].includes(self.operator) === (self.values ?? []).length > 0,
            },
          ],
        },
      },
    },
  },
  taintKey: {
    type: 'string',
    description: 'The key of the taint.',
    maxLength: 317,
    rules: [
      {
        matches:
          '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
        message: 'want a taint key such as maintenance or example.com/maintenance',
      },
    ],
  },
  taintValue: {
    type: 'string',
    description: 'The value of the taint.',
    maxLength: 63,
    rules: [
      {
        matches: '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$',
        message: "want at most 63 letters, digits, '-', '_' and '.'",
      },
    ],
  },
  taintEffect: word('The effect of the taint.', ['NoExecute', 'NoSchedule', 'PreferNoSchedule']),
  count: { type: 'integer', minimum: 0 },
  observedGeneration: natural('The generation of the spec that is in force.'),
  conditions: {
    type: 'array',
    description: 'What the controller says about the object.',
    maxItems: 16,
    mapKeys: ['type'],
    items: {
      type: 'object',
      required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
      properties: {
        type: text('Which condition it is.', 316),
        status: word('Whether it holds.', ['False', 'True', 'Unknown']),
        observedGeneration: natural('The generation of the spec that it is about.'),
        lastTransitionTime: {
          type: 'string',
          description: 'Since when its status is as it is.',
          format: 'date-time',
        },
        reason: text('Why, in one word for programs.', 1024),
        message: text('Why, for people.', 32768),
      },
    },
  },
} as const;

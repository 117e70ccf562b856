import type { Planted } from './sabotages.ts';

/** Faults of who watches what nodes run out of. */
export const agentSabotages: Readonly<Record<string, Planted>> = {
  'takes memory for short that is not': {
    story: 'whole',
    seed: 8,
    breaks: ['evicts without pressure'],
    sabotage: { agent: { settings: { evictionHard: { 'memory.available': '8Gi' } } } },
  },
  'lets memory run out': {
    story: 'whole',
    seed: 13,
    breaks: ['pressure not relieved'],
    sabotage: { agent: { settings: { evictionHard: { 'nodefs.available': '10%' } } } },
  },
};

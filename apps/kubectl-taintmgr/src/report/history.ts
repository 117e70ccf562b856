// Departures, as commands print them: the whole story of a pod, or a table of many.
import type { Instant } from '@taintmgr/core/time';
import { ago, none } from '@taintmgr/k8s-adapter/explain';
import {
  type History,
  insteadText,
  reasonText,
  type Story,
  storyText,
} from '@taintmgr/k8s-adapter/history';
import { broken } from '../render/lines.ts';
import type { Answer } from '../render/printer.ts';
import type { Tone } from '../render/style.ts';
import { type Column, renderColumns } from '../render/table.ts';

/** `isWhole`: the whole stories, and not a table of them. */
export function historyAnswer({ stories, at, document }: History, isWhole: boolean): Answer {
  return {
    ...{ document, rows: document.items },
    names: stories.map(({ pod }) => `pod/${pod}`),
    table: (options) =>
      isWhole && !options.wide
        ? storiesText(stories, at, options.width)
        : renderColumns(columns(at), stories, options),
  };
}

/** The latest first. */
function storiesText(stories: readonly Story[], now: Instant, width: number | null): string {
  const texts = stories.toReversed().map((story) => broken(storyText(story, now), width));
  return texts.join('\n\n---\n\n');
}

const states: Readonly<Record<Story['state'], string>> = {
  ...{ gone: 'gone', leaving: 'terminating', failed: 'failed', marked: 'marked', unseen: '?' },
};

const stateTones: Readonly<Record<Story['state'], Tone | null>> = {
  ...{ gone: null, leaving: 'soon', failed: 'urgent', marked: 'soon', unseen: 'warning' },
};

function columns(now: Instant): readonly Column<Story>[] {
  return [
    ['NAMESPACE', ({ namespace }) => namespace],
    ['POD', ({ pod }) => pod, { title: true }],
    ['NODE', ({ node }) => node || '?'],
    ['WHEN', ({ askedAt }) => (askedAt === null ? '?' : ago(now, askedAt.at))],
    ['STATE', ({ state }) => states[state], { tone: ({ state }) => stateTones[state] }],
    ['BY', ({ by }) => by?.who ?? '?'],
    ['SAID BY', saidBy, { below: 'said by' }],
    ['WHY', (story) => shortened(reasonText(story)) || none],
    ['REPLACED BY', (story) => insteadText(story) ?? none, { below: 'replaced by' }],
    ['UID', ({ uid }) => uid || '?', 'wide'],
    ['OWNER', ({ owner }) => (owner === null ? '?' : `${owner.kind}/${owner.name}`), 'wide'],
  ];
}

/** `record`, `condition, event`: what speaks for it. */
function saidBy({ by }: Story): string {
  const kinds = new Set(by?.sources.map(({ kind }) => kind));
  return kinds.size === 0 ? none : [...kinds].join(', ');
}

const reasonLengthMax = 60;

/** Kubelets tell at length what a node was short of. */
function shortened(text: string): string {
  return text.length <= reasonLengthMax ? text : `${text.slice(0, reasonLengthMax)}...`;
}

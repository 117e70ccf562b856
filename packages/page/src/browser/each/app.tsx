// The page of losses: which hurts most, the heat map or, where there is little room, a list, and why.
import type { EachPageInput } from '../../each.ts';
import { namespacesOf } from '../../model/heat-map.ts';
import { besidesLosses, lossHeadline, lossSentence } from '../../model/losses.ts';
import { count, duration } from '../../model/words.ts';
import { Asked } from '../asked.tsx';
import { Figures } from '../figures.tsx';
import { Choice, Find } from '../filters.tsx';
import { Brand, Made } from '../made.tsx';
import { useNarrow } from '../narrow.ts';
import { Grid } from './grid.tsx';
import { HeatLegend } from './legend.tsx';
import { List } from './list.tsx';
import { LossPanel } from './panel.tsx';
import { closePanel, type EachState, moreOf, showMore } from './state.ts';

export function EachApp({ state }: { readonly state: EachState }) {
  const isNarrow = useNarrow();
  const more = moreOf(state);
  const { rows, rowsInAll } = state.map.value;
  return (
    <main
      onKeyDown={({ key }) => {
        if (key === 'Escape' && state.chosen.value) closePanel(state);
      }}
    >
      <Result input={state.input} />
      <Controls state={state} />
      <HeatLegend state={state} />
      <div class={state.chosen.value ? 'chart-and-why open' : 'chart-and-why'}>
        <div class="chart-side">
          {rows.length === 0 && <p>Search and filter leave nothing.</p>}
          {rows.length > 0 && (isNarrow.value ? <List state={state} /> : <Grid state={state} />)}
          {more > 0 && (
            <p>
              <button type="button" onClick={() => showMore(state)}>
                {more + rows.length === rowsInAll
                  ? `Show all ${rowsInAll}`
                  : `Show ${more} more of ${rowsInAll}`}
              </button>
            </p>
          )}
        </div>
        <LossPanel state={state} />
      </div>
      <Notes input={state.input} />
      <Made input={state.input} />
    </main>
  );
}

function Result({ input }: { readonly input: EachPageInput }) {
  const { unplayed, missing, losses } = input;
  const headline = lossHeadline(input);
  const hasFigures = headline.figures.length > 0;
  const others = besidesLosses(input);
  return (
    <header class={hasFigures ? 'result with-figures' : 'result'}>
      <p class="about">
        <Brand /> simulation: {aboutText(input)}
      </p>
      {input.asked && <Asked asked={input.asked} />}
      <Figures headline={headline} />
      <div class="told">
        <h1 class={hasFigures ? 'sentence' : 'calm'}>{lossSentence(input)}</h1>
        {others !== '' && <p>{others}</p>}
      </div>
      {unplayed.length > 0 && (
        <p class="crossed">
          Stopped after {losses.length} of {losses.length + unplayed.length}: not played are{' '}
          {listed(unplayed)}.
        </p>
      )}
      {missing.length > 0 && (
        <p class="crossed">A part of the cluster only: {missing.join('; ')}</p>
      )}
    </header>
  );
}

/** The number of names that are listed. */
const namesMax = 12;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesMax).join(', ');
  return names.length > namesMax ? `${shown} and ${names.length - namesMax} more` : shown;
}

const happens: Readonly<Record<EachPageInput['by'], string>> = {
  down: 'down',
  'cut-off': 'cut off',
  drain: 'drained',
  taint: 'tainted',
};

function aboutText(input: EachPageInput): string {
  const { each, by, seed, seeds, source, untilSeconds, rules } = input;
  const drawn = seeds === undefined ? `seed ${seed}` : `medians of ${seeds} seeds`;
  const one = each === 'node' || each === 'zone' ? each : `value of ${each}`;
  return (
    `each ${one} of ${source} ${happens[by]} in a copy of its own, ` +
    `${duration(untilSeconds)} by the rules of ${rules}, ${drawn}`
  );
}

function Controls({ state }: { readonly state: EachState }) {
  const { namespace, measure, query, input } = state;
  return (
    <div class="controls">
      <Find query={query} what="node, zone, workload" />
      <Choice
        label="Namespace"
        value={namespace.value}
        choices={namespacesOf(input).map((name) => [name, name])}
        choose={(name) => {
          namespace.value = name;
        }}
      />
      <label>
        Colour by{' '}
        <select
          value={measure.value}
          onChange={({ currentTarget: { value } }) => {
            measure.value = value === 'share' ? 'share' : 'lost';
          }}
        >
          <option value="lost">pod-minutes lost</option>
          <option value="share">largest share down</option>
        </select>
      </label>
    </div>
  );
}

function Notes({ input: { managerFlags, notes, losses } }: { readonly input: EachPageInput }) {
  const failed = losses.filter((loss) => loss.failed !== null);
  return (
    <section class="numbers">
      {failed.length > 0 && (
        <p class="crossed">
          {count(failed.length, 'loss', 'losses')} could not be played:{' '}
          {listed(failed.map(({ name, failed: why }) => `${name} (${why})`))}.
        </p>
      )}
      {managerFlags !== undefined && <p>Assumed of kube-controller-manager: {managerFlags}.</p>}
      {notes.map((note) => (
        <p key={note}>Note: {note}</p>
      ))}
    </section>
  );
}

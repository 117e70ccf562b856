// Asks what would happen to the cluster as it is now: what the loss of each zone and node does, a form, and the page of the answer.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { LiveInput } from '../../live.ts';
import { type WhatIfEvent, whatIfEvents } from '../../what-if.ts';
import { type Answer, ask } from './ask.ts';
import { Forecast, type Forecasts } from './forecast.tsx';

interface WhatIfProps {
  readonly input: LiveInput;
  readonly forecasts: Forecasts;
  /** True where nothing happens in the cluster, and questions are the page's subject. */
  readonly isQuiet: boolean;
  /** The address for questions. */
  readonly address: string;
  /** The question to ask at once, as the query string of the form; null: none. */
  readonly asked: string | null;
}

const eachPlaces = ['each zone', 'each node'];

export function WhatIfPart({ input, forecasts, isQuiet, address, asked }: WhatIfProps) {
  const isOpen = useSignal(isQuiet || asked !== null);
  const given = useMemo(() => givenBy(asked, placesOf(input)), [asked]);
  const event = useSignal<WhatIfEvent | undefined>(given.event);
  const where = useSignal(given.where);
  const answer = useSignal<Answer>({ kind: 'none' });
  const form = useRef<HTMLFormElement>(null);
  const { hasPlace = false, hasTaint = false, hasEnd = false } = event.value ?? {};
  const isEach = hasPlace && eachPlaces.includes(where.value.trim());
  const play = (): void => {
    if (!form.current) return;
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form.current)) query.set(name, String(value));
    void ask({ address, isEach }, query, answer);
  };
  useEffect(() => {
    if (asked !== null) play();
  }, []);
  return (
    <details
      class="what-if"
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>What if a zone or a node fails?</summary>
      {isOpen.value && asked === null && (
        <Forecast input={input} forecasts={forecasts} address={address} />
      )}
      <h2>Ask something else</h2>
      <form
        ref={form}
        aria-label="What if"
        onSubmit={(event) => {
          event.preventDefault();
          play();
        }}
      >
        {hasPlace && <Where input={input} where={where} />}
        <label>
          What happens{' '}
          <select
            name="event"
            value={event.value?.name}
            onChange={({ currentTarget: { value } }) => {
              event.value = whatIfEvents.find(({ name }) => name === value);
            }}
          >
            {whatIfEvents.map(({ name, text }) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {hasTaint && <Taint key={String(isEach)} isEach={isEach} usual={given.taint} />}
        {hasEnd && !isEach && (
          <Choice label="For" name="lasts" options={ends} usual={given.lasts} />
        )}
        <Choice label="Look ahead" name="until" options={horizons} usual={given.until} />
        {!isEach && (
          <label>
            <input type="checkbox" name="both" value="on" /> compare taintmgr with
            kube-controller-manager
          </label>
        )}
        <button type="submit" disabled={answer.value.kind === 'awaited'}>
          Play it
        </button>
        <Outcome answer={answer.value} />
      </form>
      <p class="about">
        Each answer is a simulation of the cluster as it is now. Nothing is written to the cluster.
        “Each zone” and “each node” lose one after the other, forever, each in its own copy.
      </p>
    </details>
  );
}

/** The initial values of the form. */
interface Given {
  readonly event: WhatIfEvent | undefined;
  readonly where: string;
  readonly taint: string;
  readonly lasts: string;
  readonly until: string;
}

function givenBy(asked: string | null, places: readonly string[]): Given {
  const query = new URLSearchParams(asked ?? '');
  const [first] = whatIfEvents;
  return {
    event: whatIfEvents.find(({ name }) => name === query.get('event')) ?? first,
    where: query.get('where') ?? places[0] ?? '',
    taint: query.get('taint') ?? 'maintenance=true:NoExecute',
    lasts: query.get('lasts') ?? '10m',
    until: query.get('until') ?? '30m',
  };
}

interface WhereProps extends Pick<WhatIfProps, 'input'> {
  readonly where: Signal<string>;
}

function Where({ input, where }: WhereProps) {
  const places = placesOf(input);
  const names = places.join();
  const options = useMemo(
    () => [...places, ...eachPlaces].map((place) => <option key={place}>{place}</option>),
    [names],
  );
  const isKnown = places.includes(where.value) || eachPlaces.includes(where.value);
  return (
    <label>
      Zone or node{' '}
      <select
        name="where"
        value={where.value}
        onChange={({ currentTarget: { value } }) => {
          where.value = value;
        }}
      >
        {!isKnown && <option>{where.value}</option>}
        {options}
      </select>
    </label>
  );
}

/** Zones first, as the form calls them. */
function placesOf({ zones, nodes }: LiveInput): readonly string[] {
  const named = zones.filter(({ name }) => name !== '').map(({ name }) => `zone ${name}`);
  return [...named, ...nodes.map(({ name }) => `node ${name}`)];
}

function Taint({ isEach, usual }: { readonly isEach: boolean; readonly usual: string }) {
  return (
    <label>
      Taint{' '}
      <input
        name="taint"
        required={!isEach}
        placeholder={isEach ? 'each key in use' : 'key=value:NoExecute'}
        defaultValue={isEach ? '' : usual}
      />
    </label>
  );
}

type Options = readonly (readonly [value: string, text: string])[];

const ends: Options = [
  ['1m', '1 minute'],
  ['5m', '5 minutes'],
  ['10m', '10 minutes'],
  ['30m', '30 minutes'],
  ['', 'forever'],
];
const horizons: Options = [
  ['15m', '15 minutes'],
  ['30m', '30 minutes'],
  ['1h', '1 hour'],
  ['2h', '2 hours'],
  ['6h', '6 hours'],
];

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly options: Options;
  readonly usual: string;
}

function Choice({ label, name, options, usual }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select name={name}>
        {options.map(([value, text]) => (
          <option key={value} value={value} selected={value === usual}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Outcome({ answer }: { readonly answer: Answer }) {
  if (answer.kind === 'none') return null;
  if (answer.kind === 'awaited') {
    return (
      <>
        <button type="button" onClick={answer.stop}>
          Stop
        </button>
        <output>{answer.text}</output>
      </>
    );
  }
  return (
    <p class="stale" role="alert">
      {/[.?!]$/.test(answer.text) ? answer.text : `${answer.text}.`} {answer.next}
    </p>
  );
}

// Starts the page: of a simulation with the data that is in it, of a live cluster with what is streamed.
import { signal } from '@preact/signals';
import { render } from 'preact';
import type { PageInput } from '../input.ts';
import { sentenceOf } from '../model/sentence.ts';
import { startLive } from './live/start.tsx';
import './page.css';
import { App } from './simulation/app.tsx';
import { stateOf } from './simulation/state.ts';

const place = document.getElementById('page');
const text = document.getElementById('data')?.textContent ?? null;
if (place && text !== null) {
  const data: PageInput | { readonly stream: string } = JSON.parse(text);
  if ('stream' in data) startLive(place, data.stream);
  else showSimulation(place, data);
}

function showSimulation(where: Element, data: PageInput): void {
  document.title = `${sentenceOf(data)} - ${data.source}`;
  render(<App state={stateOf(signal(data))} />, where);
}

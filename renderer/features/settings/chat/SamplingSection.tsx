import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ChevronRight, RotateCcw } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { limits } from '../../../../electron/contract/limits';
import {
  type ModelSampling,
  type OwnSampling,
  type SamplingSettings,
  samplingOf,
} from '../../../../electron/contract/settings';
import { i18n } from '../../../language';
import { selectLoadedModel } from '../../../state/slices/engine';
import { selectCurrentModel } from '../../../state/slices/models';
import { useActions, useApp } from '../../../state/useApp';
import { cx } from '../../../ui/cx';
import { areaClass, Field } from '../../../ui/Field';
import { NumberField } from '../../../ui/NumberField';
import { Slider } from '../../../ui/Slider';
import { Tooltip } from '../../../ui/Tooltip';

/** Settings that are one number. Where a person sets none, the model's author may have a say. */
type NumberKey = Exclude<keyof SamplingSettings, 'seed' | 'maxTokens' | 'stop'>;

interface Scale {
  key: NumberKey;
  label: MessageDescriptor;
  help: MessageDescriptor;
  min: number;
  max: number;
  integer?: true;
  /** with a slider, which covers the useful part; the number takes all that is allowed */
  sliderMax?: number;
}

const scales: readonly Scale[] = [
  {
    key: 'temperature',
    label: msg`Temperature`,
    help: msg`0 always takes the likeliest token.`,
    min: 0,
    max: 5,
    sliderMax: 2,
  },
  {
    key: 'topP',
    label: msg`Top-p`,
    help: msg`Keeps the likeliest tokens up to this share. 1 is off.`,
    min: 0,
    max: 1,
    sliderMax: 1,
  },
  {
    key: 'minP',
    label: msg`Min-p`,
    help: msg`Drops tokens below this share of the likeliest. 0 is off.`,
    min: 0,
    max: 1,
    sliderMax: 1,
  },
  { key: 'repeatPenalty', label: msg`Repeat penalty`, help: msg`1 is off.`, min: 0.1, max: 3, sliderMax: 2 },
  {
    key: 'topK',
    label: msg`Top-k`,
    help: msg`Keeps this many of the likeliest tokens. 0 is off.`,
    min: 0,
    max: 1000,
    integer: true,
  },
];

const advancedScales: readonly Scale[] = [
  {
    key: 'presencePenalty',
    label: msg`Presence penalty`,
    help: msg`Against every token that occurred, however often. 0 is off.`,
    min: -2,
    max: 2,
  },
  {
    key: 'frequencyPenalty',
    label: msg`Frequency penalty`,
    help: msg`Against tokens by how often they occurred. 0 is off.`,
    min: -2,
    max: 2,
  },
  {
    key: 'penaltyTokens',
    label: msg`Penalty range`,
    help: msg`How many of the last tokens the three penalties look at.`,
    min: 0,
    max: limits.maxContext,
    integer: true,
  },
  {
    key: 'dryMultiplier',
    label: msg`DRY multiplier`,
    help: msg`Against repeated phrases; 0.8 is usual, 0 is off.`,
    min: 0,
    max: 5,
  },
  {
    key: 'dryBase',
    label: msg`DRY base`,
    help: msg`How fast the penalty grows with each repeated token.`,
    min: 1,
    max: 4,
  },
  {
    key: 'dryAllowed',
    label: msg`DRY allowed length`,
    help: msg`Tokens that may be repeated without a penalty.`,
    min: 1,
    max: 100,
    integer: true,
  },
  {
    key: 'dryTokens',
    label: msg`DRY range`,
    help: msg`How many of the last tokens are searched for repetitions.`,
    min: 0,
    max: limits.maxContext,
    integer: true,
  },
  {
    key: 'xtcProbability',
    label: msg`XTC probability`,
    help: msg`How often the likeliest tokens are left out. 0 is off.`,
    min: 0,
    max: 1,
  },
  {
    key: 'xtcThreshold',
    label: msg`XTC threshold`,
    help: msg`How likely those have to be. Over 0.5 is off.`,
    min: 0,
    max: 1,
  },
];

export function SamplingSection({ sampling: own }: { sampling: OwnSampling }) {
  const { settings } = useActions();
  const loaded = useApp(selectLoadedModel);
  const listed = useApp(selectCurrentModel)?.info;
  const model = (loaded ?? listed)?.sampling ?? null;
  const [open, setOpen] = useState(() => advancedScales.some(({ key }) => originOf(key, own, model) !== 'default'));
  const set = (change: Partial<SamplingSettings>) => void settings.update({ sampling: change });
  const sampling = samplingOf(own, model);
  const field = (scale: Scale) => (
    <ScaleField
      key={scale.key}
      scale={scale}
      value={sampling[scale.key]}
      origin={originOf(scale.key, own, model)}
      back={samplingOf({}, model)[scale.key]}
      backTo={originOf(scale.key, {}, model)}
      onCommit={(value) => void settings.update({ sampling: { [scale.key]: value } })}
    />
  );

  return (
    <>
      {scales.map(field)}
      <Field
        label={t`Seed`}
        htmlFor="settings-seed"
        inline
        help={t`Empty: a new one for each answer. The same seed gives the same answer.`}
      >
        <NumberField
          id="settings-seed"
          data-testid="settings-seed"
          className="w-32!"
          placeholder={t`random`}
          nullable
          integer
          min={0}
          max={0xffff_fffe}
          value={sampling.seed}
          onCommit={(seed) => void settings.update({ sampling: { seed } })}
        />
      </Field>
      <Field
        label={t`Longest answer`}
        htmlFor="settings-maxTokens"
        inline
        help={t`In tokens. Empty: until the context is full.`}
      >
        <NumberField
          id="settings-maxTokens"
          data-testid="settings-maxTokens"
          placeholder={t`no limit`}
          nullable
          integer
          min={0}
          max={limits.maxContext}
          value={sampling.maxTokens === 0 ? null : sampling.maxTokens}
          onCommit={(maxTokens) => set({ maxTokens: maxTokens ?? 0 })}
        />
      </Field>
      <StopStrings stop={sampling.stop} onStop={(stop) => set({ stop })} />
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        data-testid="settings-sampling-advanced"
        className="-ms-1 flex items-center gap-1 justify-self-start rounded-md px-1 py-0.5 text-sm font-medium text-ink-2 hover:text-ink"
      >
        <ChevronRight className={cx('size-4 transition-transform', open && 'rotate-90')} aria-hidden="true" />
        <Trans>Penalties, DRY and XTC</Trans>
      </button>
      {open && advancedScales.map(field)}
    </>
  );
}

/** Who decided a value. */
type Origin = 'own' | 'model' | 'default';

export function originOf(key: NumberKey, own: OwnSampling, model: Partial<ModelSampling> | null): Origin {
  if (own[key] !== undefined) return 'own';
  const recommended = model?.[key as keyof ModelSampling] ?? null;
  return recommended === null ? 'default' : 'model';
}

const originText: Record<Origin, MessageDescriptor> = {
  own: msg`yours`,
  model: msg`from the model`,
  default: msg`default`,
};

interface OriginTagProps {
  scale: Pick<Scale, 'key' | 'label'>;
  origin: Origin;
  /** what counts without a person's own value, and whose that is */
  back: number;
  backTo: Origin;
  onBack: () => void;
}

/** Beside the label: where the value comes from, and of a person's own the way back. */
function OriginTag({ scale: { key, label }, origin, back, backTo, onBack }: OriginTagProps) {
  const shared = { 'data-testid': `settings-${key}-origin`, 'data-origin': origin };
  if (origin !== 'own') {
    return (
      <span {...shared} className={cx('text-xs', origin === 'model' ? 'text-ink-2' : 'text-ink-3')}>
        {i18n._(originText[origin])}
      </span>
    );
  }
  const way = backTo === 'model' ? t`Back to ${back}, from the model` : t`Back to ${back}, the default`;
  return (
    <Tooltip label={way}>
      <button
        type="button"
        {...shared}
        aria-label={t`${i18n._(label)} is yours. ${way}`}
        onClick={onBack}
        className="-mx-1 inline-flex items-center gap-1 rounded px-1 text-xs font-medium text-accent hover:bg-hover"
      >
        {i18n._(originText.own)}
        <RotateCcw className="size-3" aria-hidden="true" />
      </button>
    </Tooltip>
  );
}

interface ScaleFieldProps extends Omit<OriginTagProps, 'onBack'> {
  scale: Scale;
  value: number;
  /** null: not set any more */
  onCommit: (value: number | null) => void;
}

const restMs = 250;

/** A number, some with a slider. A slider that moves is saved when it rests: every save is written to the disk. */
function ScaleField({ scale, value, onCommit, ...origin }: ScaleFieldProps) {
  const { key, min, max, integer = false, sliderMax } = scale;
  const label = i18n._(scale.label);
  const help = i18n._(scale.help);
  const id = `settings-${key}`;
  const [moving, setMoving] = useState<number | null>(null);
  const commit = useRef(onCommit);
  commit.current = onCommit;

  useEffect(() => {
    if (moving === null) return;
    const timer = setTimeout(() => {
      commit.current(moving);
      setMoving(null);
    }, restMs);
    return () => clearTimeout(timer);
  }, [moving]);

  const shown = moving ?? value;
  const number = (
    <NumberField
      id={id}
      data-testid={id}
      className="w-20!"
      {...{ min, max, integer }}
      value={shown}
      onCommit={(next) => next !== null && onCommit(next)}
    />
  );
  const tag = <OriginTag scale={scale} {...origin} onBack={() => onCommit(null)} />;
  if (sliderMax === undefined) {
    return (
      <Field label={label} tag={tag} htmlFor={id} help={help} inline>
        {number}
      </Field>
    );
  }
  return (
    <Field label={label} tag={tag} htmlFor={id} help={help} aside={number}>
      <Slider
        aria-label={t`${label}, as a slider`}
        min={min}
        max={sliderMax}
        step={0.01}
        value={Math.min(sliderMax, shown)}
        onValue={(next) => setMoving(Math.round(next * 100) / 100)}
      />
    </Field>
  );
}

function StopStrings({ stop, onStop }: { stop: readonly string[]; onStop: (stop: string[]) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const printed = printStops(stop);
  return (
    <Field
      label={t`Stop strings`}
      htmlFor="settings-stop"
      help={t`One a line; \\n stands for a line break. The answer ends before the first that occurs.`}
    >
      <textarea
        id="settings-stop"
        data-testid="settings-stop"
        rows={2}
        spellCheck={false}
        value={typed ?? printed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => {
          if (typed !== null && typed !== printed) onStop(parseStops(typed));
          setTyped(null);
        }}
        className={`${areaClass} font-mono text-xs`}
      />
    </Field>
  );
}

/** Stop strings as text: one a line, with \n, \t and \\ for what a line cannot hold. */
const most = 16;
const longest = 200;

export function printStops(stop: readonly string[]): string {
  return stop.map((text) => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\t/g, '\\t')).join('\n');
}

export function parseStops(text: string): string[] {
  const lines = text
    .split('\n')
    .map(unescapeLine)
    .filter((line) => line !== '');
  return [...new Set(lines)].slice(0, most).map((line) => line.slice(0, longest));
}

function unescapeLine(line: string): string {
  return line.replace(/\\([nt\\])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : '\\'));
}

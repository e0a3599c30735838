/** Which tools the open chat may call, and what each takes of its prompt before it has it. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Wrench } from 'lucide-react';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { ToolServer } from '../../../electron/contract/tools/operations';
import { type Tool, type ToolRef, toolKey, toolLimits } from '../../../electron/contract/tools/tools';
import { selectChatId } from '../../state/lib/openChat';
import { brokenCalls, selectRuns } from '../../state/slices/compare';
import { selectCanAnswer, selectLoadedContext } from '../../state/slices/engine';
import { selectIsAnswering } from '../../state/slices/live';
import { priceKey, selectChatTools, selectToolPrice, selectToolServers } from '../../state/slices/tools';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatCount, typesText } from '../../ui/format';
import { Popover } from '../../ui/Popover';

export function ToolPicker() {
  const { chosen } = useApp(selectChatTools);
  const [open, setOpen] = useState(false);
  /** the first choice begins a chat, whose field then takes the focus: that is no reason to close the list */
  const choosing = useRef(false);
  const label = plural(chosen.length, {
    0: 'Tools: none in this chat',
    one: 'Tools: # in this chat',
    other: 'Tools: # in this chat',
  });
  return (
    <Popover
      label={t`Tools of this chat`}
      align="start"
      className="w-[min(26rem,calc(100vw-1.5rem))]"
      open={open}
      onOpenChange={(next) => (next || !choosing.current) && setOpen(next)}
      trigger={
        <IconButton
          label={label}
          icon={<Wrench />}
          className={cx('-ms-2', chosen.length > 0 && '[&_svg]:text-accent')}
          data-testid="tools"
          data-tools={chosen.length}
        />
      }
    >
      <Picker choosing={choosing} onSettings={() => setOpen(false)} />
    </Popover>
  );
}

/** Of a server as it told of them, and those that the chat has of servers that have not. */
function useOffers(): { server: ToolServer; tools: Tool[] }[] {
  const servers = useApp(selectToolServers);
  const { chosen } = useApp(selectChatTools);
  return servers.map((server) => ({
    server,
    tools: server.tools ?? chosen.filter(({ serverId }) => serverId === server.id),
  }));
}

function Picker({ choosing, onSettings }: { choosing: RefObject<boolean>; onSettings: () => void }) {
  const offers = useOffers();
  const chatTools = useApp(selectChatTools);
  const answering = useApp(selectIsAnswering(useApp(selectChatId)));
  const [refused, setRefused] = useState<ErrorPayload | null>(null);
  const { tools } = useActions();
  const price = usePrices(offers);
  const keys = chatTools.chosen.map(toolKey);
  const { chosen, mustCall } = chatTools;

  async function choose(refs: readonly ToolRef[], must = mustCall): Promise<void> {
    choosing.current = true;
    setRefused(await tools.choose(refs, must));
    choosing.current = false;
  }

  /** Puts these in, or takes them out. */
  function set(some: readonly ToolRef[], on: boolean): void {
    const named = new Set(some.map(toolKey));
    const others = chosen.filter((one) => !named.has(toolKey(one)));
    void choose((on ? [...others, ...some] : others).map(({ serverId, tool }) => ({ serverId, tool })));
  }

  return (
    <div data-testid="tool-picker">
      <div className="border-b border-line px-4 py-3">
        <h2 className="font-serif text-base text-ink">
          <Trans>Tools of this chat</Trans>
        </h2>
        <p className="mt-0.5 text-xs text-ink-3">
          <Trans>The model may ask for those that are on. No call runs before you allow it.</Trans>
        </p>
      </div>
      <BrokenByCache onShow={onSettings} />
      <div className="max-h-[max(8rem,calc(100vh-25rem))] overflow-y-auto">
        {offers.map(({ server, tools: list }) => (
          <ServerTools
            key={server.id}
            server={server}
            tools={list}
            chosen={keys}
            price={price}
            locked={answering}
            onSet={set}
          />
        ))}
        {offers.length === 0 && (
          <p className="px-4 py-3 text-ink-2">
            <Trans>No tool server is set up yet.</Trans>
          </p>
        )}
      </div>
      <div className="grid gap-2 border-t border-line px-4 py-3">
        {refused && (
          <Banner tone="bad" title={refused.message} testId="tools-refused">
            {refused.hint}
          </Banner>
        )}
        <Total tokens={price.ofChat} />
        {chosen.length > 0 && (
          <label className="flex items-start gap-2 text-xs text-ink-2">
            <input
              type="checkbox"
              className="mt-0.5 accent-accent"
              checked={mustCall}
              disabled={answering}
              data-testid="tools-must-call"
              onChange={(event) => void choose(chosen, event.target.checked)}
            />
            <Trans>Each answer begins with a call: the model only chooses which.</Trans>
          </label>
        )}
        <div>
          <Button
            size="small"
            data-testid="tools-settings"
            onClick={() => {
              onSettings();
              tools.show();
            }}
          >
            <Trans>Tool servers</Trans>
          </Button>
        </div>
      </div>
    </div>
  );
}

/** Only where a check of this model found that the cache types in use break calls. */
function BrokenByCache({ onShow }: { onShow: () => void }) {
  const runs = useApp(selectRuns);
  const context = useApp(selectLoadedContext);
  const broken = useMemo(() => brokenCalls(runs ?? [], context), [runs, context]);
  const { compare } = useActions();
  if (!broken || !context) return null;
  const { calls, right, all, depth, whole } = broken;
  const inUse = typesText(context.typeK.asked, context.typeV.asked);
  const better = typesText(whole.typeK, whole.typeV);
  return (
    <div className="border-b border-line px-4 py-3">
      <Banner
        tone="warn"
        title={t`The cache in use (${inUse}) breaks calls of this model.`}
        testId="tools-broken"
        actions={
          <Button
            size="small"
            data-testid="tools-broken-show"
            onClick={() => {
              onShow();
              void compare.openRun(broken.runId);
            }}
          >
            <Trans>Show the check</Trans>
          </Button>
        }
      >
        <Trans>
          In a check with {formatCount(depth)} tokens it made {calls} of {all} calls right, with f16 {right}. Nothing
          was lost with {better}.
        </Trans>
      </Banner>
    </div>
  );
}

type Prices = ReturnType<typeof usePrices>;

/** Of all that can be chosen, each alone. Counted when the list opens and when anything that it hangs on changes. */
function usePrices(offers: ReturnType<typeof useOffers>) {
  const { tools } = useActions();
  const able = useApp(selectCanAnswer);
  const price = useApp(selectToolPrice);
  const refs = offers
    .flatMap(({ server, tools: list }) => list.map(({ tool }) => ({ serverId: server.id, tool })))
    .slice(0, toolLimits.toolsOfChat);
  const key = useApp((state) => priceKey(state, refs));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the list, the prompt and the model
  useEffect(() => {
    if (able && refs.length > 0) void tools.askPrice(refs);
  }, [key, able, tools]);
  const current = able && price?.key === key ? price : null;
  return {
    ofServer: (id: string) => current?.value?.servers.find(({ serverId }) => serverId === id)?.tokens,
    ofTool: (ref: ToolRef) => current?.value?.tools.find((one) => toolKey(one) === toolKey(ref))?.tokens,
    /** those that the chat has */
    ofChat: current?.value?.ofChat,
    /** the model's template has no place for them */
    untold: current?.value?.total === 0,
  };
}

/** undefined: it is not counted; null: the template refuses it */
function tokensText(tokens: number | null | undefined): string {
  if (tokens === undefined) return '';
  if (tokens === null) return t`cannot be used`;
  return plural(tokens, { one: '# token', other: `${formatCount(tokens)} tokens` });
}

interface ServerToolsProps {
  server: ToolServer;
  tools: readonly Tool[];
  chosen: readonly string[];
  price: Prices;
  /** an answer is being written with what was chosen before */
  locked: boolean;
  onSet: (tools: ToolRef[], on: boolean) => void;
}

function ServerTools({ server, tools, chosen, price, locked, onSet }: ServerToolsProps) {
  const actions = useActions().tools;
  const refs = tools.map(({ tool }) => ({ serverId: server.id, tool }));
  const on = refs.filter((ref) => chosen.includes(toolKey(ref))).length;
  return (
    <section
      aria-label={server.name}
      className="border-b border-line px-4 py-2.5 last:border-b-0"
      data-testid="tool-server"
    >
      <div className="flex items-center gap-2">
        {refs.length > 0 && (
          <input
            type="checkbox"
            aria-label={t`All tools of ${server.name}`}
            className="accent-accent"
            checked={on === refs.length}
            disabled={locked}
            ref={(box) => {
              if (box) box.indeterminate = on > 0 && on < refs.length;
            }}
            onChange={() => onSet(refs, on < refs.length)}
            data-testid="tool-server-all"
          />
        )}
        <h3 className="min-w-0 flex-1 truncate font-medium text-ink">{server.name}</h3>
        <span className="text-xs text-ink-3 tabular-nums" data-testid="tool-server-price">
          {tokensText(price.ofServer(server.id))}
        </span>
        {server.tools === null && (
          <Button
            size="small"
            disabled={server.state === 'starting'}
            onClick={() => void actions.connect(server.id)}
            data-testid="tool-server-connect"
          >
            {server.state === 'starting' ? t`Starting` : t`Start`}
          </Button>
        )}
      </div>
      {server.error && (
        <p role="alert" className="mt-1 text-xs [overflow-wrap:anywhere] whitespace-pre-wrap text-bad">
          {server.error.message}
        </p>
      )}
      <ul className="mt-1 grid grid-cols-1 gap-0.5">
        {tools.map((tool, index) => (
          <li key={tool.tool}>
            <label
              className="flex items-center gap-2 rounded-md py-0.5 ps-5 text-ink-2 hover:bg-hover"
              title={tool.description}
            >
              <input
                type="checkbox"
                className="accent-accent"
                checked={chosen.includes(toolKey(refs[index] ?? { serverId: '', tool: '' }))}
                disabled={locked}
                onChange={(event) => onSet(refs.slice(index, index + 1), event.target.checked)}
                data-testid="tool"
                data-tool={tool.tool}
              />
              <span className="min-w-0 flex-1 truncate">{tool.tool}</span>
              <span className="text-xs text-ink-3 tabular-nums">
                {tokensText(price.ofTool({ serverId: server.id, tool: tool.tool }))}
              </span>
            </label>
          </li>
        ))}
      </ul>
      {price.untold && <Untold />}
    </section>
  );
}

function Untold() {
  return (
    <p className="mt-1.5 text-xs text-warn" data-testid="tools-untold">
      <Trans>
        The chat template of this model has no place for tools: it is not told of them, and cannot call any.
      </Trans>
    </p>
  );
}

/** What the tools of the chat take, as the context bar has it. */
function Total({ tokens }: { tokens: number | undefined }) {
  const { chosen } = useApp(selectChatTools);
  if (chosen.length === 0) return null;
  const renamed = chosen.filter(({ name, tool }) => name !== tool);
  return (
    <div className="text-xs text-ink-2">
      {tokens !== undefined && (
        <p data-testid="tools-total" data-tokens={tokens}>
          <Trans>
            Together they take {formatCount(tokens)} tokens of each prompt. What the template says around them counts
            once.
          </Trans>
        </p>
      )}
      {renamed.length > 0 && (
        <p className="mt-1" data-testid="tools-renamed">
          <Trans>The model has them under other names: {renamed.map(({ name }) => name).join(', ')}.</Trans>
        </p>
      )}
    </div>
  );
}

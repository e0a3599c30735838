import { BookOpenText, Mail, NotebookPen, Plus, ReceiptText } from 'lucide-react';
import type { ReactNode } from 'react';
import { selectDraftOfOpenChat } from '../../state/lib/openChat';
import {
  selectEngineState,
  selectHeadless,
  selectLoadedContext,
  selectLoadedModel,
  selectMemory,
} from '../../state/slices/engine';
import { selectCurrentModel, selectHasOwnModel, selectIsEmbedded } from '../../state/slices/models';
import { useActions, useApp } from '../../state/useApp';
import { Bellows } from '../../ui/Bellows';
import { Button } from '../../ui/Button';
import { formatBytes, formatCount, formatParameters } from '../../ui/format';

/**
 * What the built-in model does well: a direct question about a letter, minutes or an invoice of one or two pages.
 * test/e2e/electron/built-in.spec.ts asks each of them in the window.
 */
interface Example {
  id: 'letter' | 'minutes' | 'invoice' | 'long';
  title: string;
  question: string;
  /** of the attached text, as people see it */
  name: string;
  /** loaded on demand where it is long */
  text: string | (() => Promise<string>);
}

const letter = `7 Harbor Lane
Dunmore
May 12

Dear Martha,

Thank you for your long letter. We are all well, and the children talk of nothing but your visit. Do come in July, when the sea is warm enough. The train from Ashford arrives in Dunmore at 12:40, and Walter will meet you at the station with the blue car.

A great deal has happened here. Walter has sold the old boat and is looking for a smaller one. He paid 640 dollars for a tent, so that we can go camping in August. Emily now works as a nurse in Cardiff and writes to us every Sunday. Peter is learning the guitar and plays it very badly. Our new dog is called Biscuit and sleeps under the piano. He has already eaten two hats and one of my gardening gloves.

The house is lovely, except for the kitchen, which has had no light since Thursday. The electrician promised to come on Friday and never appeared. In the meantime I have bought three lamps, which cost me 48 dollars.

We could not come to the wedding of your niece, because the bridge was closed after the storm. I was sorry to miss it. Please tell her that our present, a clock made of brass, is still on its way. Greta Lowe will bring it along when she travels north in June.

And now I have a request. Could you bring a jar of your plum jam? Nobody here makes it as you do. If we are not at home when you arrive, the key is under the red flowerpot beside the door. My new telephone number is 555 0142.

Give our love to everybody at home.

Your Agnes`;

const minutes = `Dunmore Garden Club
Minutes of the meeting of November 3

Place: Dunmore library
Chair: Ruth Ellison
Treasurer: David Park
Secretary: Clara Jensen
Peter Lang was not able to attend because he was ill.

1. Accounts
David Park presented the accounts. The account stands at 1,840 dollars. The bill for water, 76 dollars, has been paid. Twelve members have not paid their subscriptions; the treasurer will write to them before Christmas.

2. Tools
The lawn mower is broken and cannot be repaired. Nadia Rahman will order a new lawn mower, which must not cost more than 420 dollars. The wheelbarrow will be painted by Frank Moss.

3. Spring market
The spring market will take place on April 18 in Bridge Street. Frank Moss will ask the baker to judge the cakes. Maria Costa will hire a tent. Tomato plants will be sold at 2 dollars each. Clara Jensen is to speak to the police about parking.

4. Gifts
The school garden will get a new bench, a gift of the Dunmore Bank. The bench will be unveiled by the mayor on May 9.

5. Bonfires
The proposal to allow bonfires was rejected by nine votes to four because the gardens are too small.

6. Talk
Helen Brook will give a talk about bees on January 12. Members pay nothing; guests pay 5 dollars.

7. Keys
Two keys of the garden gate were lost in the summer. Ruth Ellison keeps the new keys and will hand them out after the meeting.

The next meeting is on December 1 at 7 pm in the library.`;

const invoice = `Hill & Sons Garden Services
Invoice 11874
Date: September 9
To: the Ashford Music School, 27 Church Street

item ; quantity ; unit price ; total
Rose bush, red ; 12 ; 9.00 ; 108.00
Apple tree ; 3 ; 34.50 ; 103.50
Garden soil, 40 l ; 8 ; 6.25 ; 50.00
Paint, white ; 2 ; 18.90 ; 37.80
Hours of work ; 14 ; 28.00 ; 392.00

Subtotal 691.30
Sales tax 7% 48.39
Total due 739.69
Please pay by September 30.

Our account is number 5520 3318 at the Kent Bank. Please quote your customer number, AF-81697.

The work was done on September 2 and 3 by Michael Hill and Steven Price. The rose bushes have a guarantee of one year. The apple trees should be watered twice a week until the end of October.

The key of the garden gate was left with Mrs. Clarke. The old fence will be taken away on September 16, which costs nothing. The next visit is planned for March 12.

Questions about this invoice are answered by Robert Hill, telephone 555 0119, robert@hillandsons.example.`;

const examples: readonly Example[] = [
  {
    id: 'letter',
    title: 'A letter',
    question: 'Why could they not come to the wedding?',
    name: 'letter.txt',
    text: letter,
  },
  {
    id: 'minutes',
    title: 'Minutes of a meeting',
    question: 'When is the next meeting?',
    name: 'minutes.txt',
    text: minutes,
  },
  {
    id: 'invoice',
    title: 'An invoice',
    question: 'What is the total due?',
    name: 'invoice.txt',
    text: invoice,
  },
  {
    id: 'long',
    title: 'Five pages, read before your eyes',
    question: 'What is the special magic number for harbour?',
    name: 'five-pages.txt',
    text: () => import('./longExample').then((module) => module.longExample),
  },
];

const icons: Record<Example['id'], ReactNode> = {
  letter: <Mail />,
  minutes: <NotebookPen />,
  invoice: <ReceiptText />,
  long: <BookOpenText />,
};

/** A chat without messages: what this model is good for, and how to begin. `firstModel`: the way to a first model of one's own. */
export function Welcome({ firstModel }: { firstModel: ReactNode }) {
  const embedded = useApp(selectIsEmbedded);
  const own = useApp(selectHasOwnModel);
  const attached = useApp(selectDraftOfOpenChat).documents.length > 0;
  return (
    <section
      className="min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable_both-edges]"
      aria-label="New chat"
      tabIndex={-1}
    >
      <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col justify-center px-4 py-8 short:py-3 sm:px-6">
        <Bellows pleats={26} className="rise mb-6 h-9 w-44 short:hidden" />
        <h1 className="rise font-serif text-[1.9rem] short:text-2xl leading-tight tracking-[-0.012em] text-balance text-ink">
          {embedded ? 'Paste a text. Ask a question.' : 'Unfold something long.'}
        </h1>
        {firstModel}
        {embedded ? <EmbeddedIntro /> : <ModelIntro />}
        {/* they would replace what is attached, and the composer needs the room */}
        {embedded && !attached && (
          <ul className="mt-6 grid gap-2.5 short:mt-4 sm:grid-cols-2" aria-label="Examples">
            {examples.map((example) => (
              <ExampleCard key={example.id} example={example} />
            ))}
          </ul>
        )}
        {embedded && own && <Invitation />}
      </div>
    </section>
  );
}

function EmbeddedIntro() {
  const parameters = useApp(selectLoadedModel)?.parameters;
  const own = useApp(selectHasOwnModel);
  return (
    <p className="mt-2.5 max-w-xl short:max-w-none text-base short:text-sm text-pretty text-ink-2">
      {own ? 'You are talking to' : 'Or begin at once with'} the small built-in model
      {parameters ? ` (${formatParameters(parameters)} parameters)` : ''}. It finds some facts in letters, minutes and
      other short texts, overlooks many, and gets some wrong. It cannot reason, summarize long texts or tell about the
      world.
    </p>
  );
}

function ModelIntro() {
  const name = useApp(selectCurrentModel)?.info?.name;
  const context = useApp(selectLoadedContext);
  const memory = useApp(selectMemory);
  const loading = useApp(selectEngineState) === 'loading';
  if (!context || !memory) {
    return (
      <p className="mt-2.5 max-w-xl text-base text-pretty text-ink-2">
        {loading ? `${name ?? 'The model'} is loading. You can paste a long text already.` : 'Choose a model to begin.'}
      </p>
    );
  }
  return (
    <p className="mt-2.5 max-w-xl text-base text-pretty text-ink-2">
      {name ?? 'The model'} holds {formatCount(context.nCtx)} tokens in {formatBytes(memory.kvK + memory.kvV)} of cache.
      At f16 the same context would take {formatBytes(memory.kvF16)}. Paste a long text or drop a file here.
    </p>
  );
}

function ExampleCard({ example }: { example: Example }) {
  const { conversation, documents, ui } = useActions();

  async function use(): Promise<void> {
    const text = typeof example.text === 'function' ? await example.text() : example.text;
    conversation.setDraftText(example.question);
    ui.focusComposer();
    await documents.attachOnly(text, example.name);
  }

  return (
    <li>
      <button
        type="button"
        data-testid="example"
        onClick={() => void use()}
        className="flex h-full w-full items-start gap-3 rounded-xl border border-line bg-raised p-3.5 short:p-2.5 text-left shadow-card transition-colors hover:border-accent/60 hover:bg-accent-soft"
      >
        <span className="mt-0.5 text-accent [&_svg]:size-4.5">{icons[example.id]}</span>
        <span>
          <span className="block font-medium text-ink">{example.title}</span>
          <span className="mt-0.5 block text-ink-3 short:text-xs">{example.question}</span>
        </span>
      </button>
    </li>
  );
}

/** Browsers do not expose the path of a dropped file. */
function Invitation() {
  const headless = useApp(selectHeadless);
  const { ui } = useActions();
  return (
    <div className="mt-5 flex flex-wrap items-center gap-x-4 gap-y-2 short:mt-3 text-sm text-ink-3">
      <Button onClick={() => ui.setPicker(true)} data-testid="welcome-add-model">
        <Plus className="size-4" aria-hidden="true" />
        Choose a larger model
      </Button>
      <p>Any GGUF file on this computer.{!headless && ' You can also drop one into the window.'}</p>
    </div>
  );
}

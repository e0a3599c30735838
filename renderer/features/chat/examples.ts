/**
 * Things that the built-in model does reliably: finding what stands in a text, looking up values, telling a tiny story.
 * Each was tried several times at the default temperature. Definitions, open questions and poems come out as nonsense.
 */
export interface Example {
  id: string;
  title: string;
  detail: string;
  question: string;
  /** goes into the draft as a pasted text; a function where it is loaded on demand */
  text: string | (() => Promise<string>) | null;
}

const letter = `Dear Martha,

I am sorry that we missed you at the harbour on Sunday. The weather was fine and the children swam until the evening. Uncle Paul has sold the blue boat and is looking for a smaller one. Before you leave, please remember these things. The train to Helsinki leaves from platform 18. You can find the bicycle at the old mill; Greta Lowe received the clock from Jonas and will bring it along. The email address of Walter Smith is walter.smith@harbour.net, in case the keys do not fit.

Give our love to everybody at home.

Your Agnes`;

const list = `Here is a list.

lantern: Dublin
shark: Warsaw
pizza: Fresno
feather: Oslo
dome: Delhi
mule: Genoa
wolf: Istanbul
copper: Dakar
lobby: Malmo
anchor: Milan
orchid: Cologne
basket: Taipei`;

export const examples: readonly Example[] = [
  {
    id: 'letter',
    title: 'Find a fact in a letter',
    detail: 'From which platform does the train to Helsinki leave?',
    question: 'From which platform does the train to Helsinki leave?',
    text: letter,
  },
  {
    id: 'long',
    title: 'Find a number in five pages',
    detail: 'About 2,000 tokens, read before your eyes',
    question: 'What is the special magic number for harbour?',
    text: () => import('./longExample').then((module) => module.longExample),
  },
  {
    id: 'list',
    title: 'Look a value up',
    detail: 'What is the value of orchid?',
    question: 'What is the value of orchid?',
    text: list,
  },
  {
    id: 'story',
    title: 'Hear a very short story',
    detail: 'Tell me a very short story about a fox.',
    question: 'Tell me a very short story about a fox.',
    text: null,
  },
];

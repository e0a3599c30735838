/**
 * The tool calls of a check: tools as a program describes them (OpenAI's form), questions, and the one call that answers each. Every
 * argument stands in its question, word by word, so that a wrong one was lost on its way and not made up for want of it.
 */

interface Parameter {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  description: string;
  enum?: string[];
  items?: { type: 'string' | 'integer' };
}

export interface Tool {
  name: string;
  description: string;
  parameters: { type: 'object'; properties: Record<string, Parameter>; required: string[] };
}

export interface ToolTask {
  question: string;
  tool: string;
  /** all that the call may have, by name; strings are compared without case and outer blanks, lists in their order */
  expected: Record<string, string | number | boolean | string[]>;
}

export const instructions =
  'You are an assistant with tools. Answer every request by calling the one tool that fits, once, with the values that the request names.';

function tool(name: string, description: string, properties: Record<string, Parameter>, optional: string[] = []): Tool {
  const required = Object.keys(properties).filter((one) => !optional.includes(one));
  return { name, description, parameters: { type: 'object', properties, required } };
}

export const tools: readonly Tool[] = [
  tool('get_weather', 'Current weather of a city', {
    city: { type: 'string', description: 'Name of the city, without the country' },
    unit: { type: 'string', enum: ['celsius', 'fahrenheit'], description: 'Unit of the temperature' },
  }),
  tool('get_forecast', 'Weather of the coming days in a city', {
    city: { type: 'string', description: 'Name of the city, without the country' },
    days: { type: 'integer', description: 'Number of days' },
  }),
  tool('send_email', 'Sends an e-mail', {
    to: { type: 'string', description: 'Address of the recipient' },
    subject: { type: 'string', description: 'Subject line' },
    body: { type: 'string', description: 'Text of the mail' },
  }),
  tool('create_event', 'Puts an event into the calendar', {
    title: { type: 'string', description: 'Title of the event' },
    date: { type: 'string', description: 'Day, as YYYY-MM-DD' },
    time: { type: 'string', description: 'Time, as HH:MM in 24 hours' },
    attendees: { type: 'array', items: { type: 'string' }, description: 'First names of those who are invited' },
  }),
  tool('delete_event', 'Removes an event from the calendar', {
    event_id: { type: 'string', description: 'Identifier of the event' },
  }),
  tool('search_files', 'Finds files by their names', {
    pattern: { type: 'string', description: 'Pattern of the name, with * for any characters' },
    folder: { type: 'string', description: 'Whole path of the folder' },
    recursive: { type: 'boolean', description: 'Whether folders inside of it are searched, too' },
  }),
  tool('read_file', 'Reads lines of a text file', {
    path: { type: 'string', description: 'Whole path of the file' },
    first_line: { type: 'integer', description: 'Number of the first line' },
    last_line: { type: 'integer', description: 'Number of the last line' },
  }),
  tool('transfer_money', 'Transfers money between two accounts', {
    from_account: { type: 'string', description: 'Number of the account that pays' },
    to_account: { type: 'string', description: 'Number of the account that receives' },
    amount: { type: 'number', description: 'Amount, with cents behind the point' },
    currency: { type: 'string', description: 'Three letters of the currency' },
  }),
  tool('convert_currency', 'Converts an amount of money', {
    amount: { type: 'number', description: 'Amount' },
    from_currency: { type: 'string', description: 'Three letters of the currency it is in' },
    to_currency: { type: 'string', description: 'Three letters of the currency it is converted to' },
  }),
  tool('set_thermostat', 'Sets the temperature of a room', {
    room: { type: 'string', description: 'Name of the room' },
    degrees: { type: 'number', description: 'Degrees Celsius' },
  }),
  tool('run_query', 'Runs an SQL query on a database', {
    database: { type: 'string', description: 'Name of the database' },
    query: { type: 'string', description: 'The SQL query, as it was given' },
  }),
];

export const tasks: readonly ToolTask[] = [
  {
    question: 'What is the weather like in Oslo right now, in celsius?',
    tool: 'get_weather',
    expected: { city: 'Oslo', unit: 'celsius' },
  },
  {
    question: 'How will the weather be in Lisbon over the next 5 days?',
    tool: 'get_forecast',
    expected: { city: 'Lisbon', days: 5 },
  },
  {
    question: 'Tell me the current weather in Phoenix in fahrenheit.',
    tool: 'get_weather',
    expected: { city: 'Phoenix', unit: 'fahrenheit' },
  },
  {
    question:
      'Send an e-mail to marta.lindqvist@harbour-office.example with the subject "Berth 14" and the text "The crane is free from Tuesday."',
    tool: 'send_email',
    expected: {
      to: 'marta.lindqvist@harbour-office.example',
      subject: 'Berth 14',
      body: 'The crane is free from Tuesday.',
    },
  },
  {
    question:
      'Put an event with the title "Budget review" into the calendar for 2031-03-17 at 14:30 and invite Ines, Tom and Yusuf.',
    tool: 'create_event',
    expected: { title: 'Budget review', date: '2031-03-17', time: '14:30', attendees: ['Ines', 'Tom', 'Yusuf'] },
  },
  {
    question: 'Remove the event with the identifier evt-7f3a-90c2-4b1d from the calendar.',
    tool: 'delete_event',
    expected: { event_id: 'evt-7f3a-90c2-4b1d' },
  },
  {
    question: 'Find all files whose names match report_*.csv in /srv/data/2029, in the folders inside of it, too.',
    tool: 'search_files',
    expected: { pattern: 'report_*.csv', folder: '/srv/data/2029', recursive: true },
  },
  {
    question: 'Read lines 118 to 142 of /var/log/pump-station.log.',
    tool: 'read_file',
    expected: { path: '/var/log/pump-station.log', first_line: 118, last_line: 142 },
  },
  {
    question: 'Transfer 1249.95 EUR from account 4471-0098-23 to account 8810-5526-07.',
    tool: 'transfer_money',
    expected: { from_account: '4471-0098-23', to_account: '8810-5526-07', amount: 1249.95, currency: 'EUR' },
  },
  {
    question: 'How much are 360 CHF in JPY?',
    tool: 'convert_currency',
    expected: { amount: 360, from_currency: 'CHF', to_currency: 'JPY' },
  },
  {
    question: 'Set the thermostat of the workshop to 18.5 degrees.',
    tool: 'set_thermostat',
    expected: { room: 'workshop', degrees: 18.5 },
  },
  {
    question:
      'Run this query on the database inventory: SELECT name, stock FROM parts WHERE stock < 25 ORDER BY stock DESC',
    tool: 'run_query',
    expected: {
      database: 'inventory',
      query: 'SELECT name, stock FROM parts WHERE stock < 25 ORDER BY stock DESC',
    },
  },
  {
    question:
      'Find files that match *.tiff in /home/ada/scans, and only in that folder itself, not in the folders inside of it.',
    tool: 'search_files',
    expected: { pattern: '*.tiff', folder: '/home/ada/scans', recursive: false },
  },
  {
    question:
      'Write an e-mail to j.okafor@north-mill.example, the subject is "Order 50317-B", and the text is: We received 48 of 60 boxes.',
    tool: 'send_email',
    expected: {
      to: 'j.okafor@north-mill.example',
      subject: 'Order 50317-B',
      body: 'We received 48 of 60 boxes.',
    },
  },
];

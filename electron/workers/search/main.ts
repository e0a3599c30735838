/** Entry of the worker thread that searches the chats. */
import { answerTasks } from '../answerTasks';
import { Searcher } from './searcher';

const searcher = new Searcher();

answerTasks(searcher.search.bind(searcher));

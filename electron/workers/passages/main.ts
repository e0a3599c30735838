/** Entry of the worker thread that finds passages of documents. */
import { answerTasks } from '../answerTasks';
import { PassageIndexes } from './passageIndexes';

const indexes = new PassageIndexes();

answerTasks(indexes.search.bind(indexes));

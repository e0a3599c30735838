/** Entry of the engine process. The one place that loads native code, so that a crash there ends nothing else. */
import { loadEngine } from '../../native/binding/load';
import { selfTestFolder } from '../shared/engineArguments';
import { openCarrier } from './carrier';
import { serveParent } from './serveParent';

serveParent(openCarrier(), loadEngine, selfTestFolder(process.argv));

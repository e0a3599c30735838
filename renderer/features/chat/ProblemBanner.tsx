import { selectProblem } from '../../state/ui/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';

/** The last action that failed: what happened, and the way out where the app has one. */
export function ProblemBanner() {
  const problem = useApp(selectProblem);
  const { ui } = useActions();
  if (!problem) return null;
  const offersSettings = ['context-full', 'context-invalid', 'out-of-memory', 'cache-type-unsupported'].includes(
    problem.code,
  );
  const offersModels = ['model-missing', 'model-invalid', 'model-unsupported'].includes(problem.code);

  return (
    <Banner
      tone="bad"
      title={problem.message}
      testId="error-banner"
      className="rise mb-2"
      onClose={ui.closeProblem}
      actions={
        <>
          {offersSettings && (
            <Button size="small" onClick={() => ui.setSettings(true)}>
              Open settings
            </Button>
          )}
          {offersModels && (
            <Button size="small" onClick={() => ui.setPicker(true)}>
              Choose a model
            </Button>
          )}
        </>
      }
    >
      {problem.hint}
    </Banner>
  );
}

import { Check, Copy } from 'lucide-react';
import { IconButton } from '../../ui/Button';
import { useCopy } from '../../ui/hooks';

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const { copied, copy } = useCopy();
  return (
    <IconButton
      label={copied ? 'Copied' : label}
      icon={copied ? <Check className="text-good" /> : <Copy />}
      size="small"
      onClick={() => copy(text)}
    />
  );
}

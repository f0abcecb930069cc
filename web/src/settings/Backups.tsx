/** Copies of the database: which there are, one more now, and the way back to one. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client';
import { age, bytes } from '../session/words';
import { useNow } from '../shell/useNow';
import { askYes } from '../shell/prompt';
import { toast } from '../shell/toast';
import { Page, Section } from './parts';

interface BackupList {
  folder: string;
  backups: { name: string; taken_at: number; bytes: number }[];
  kept: number;
  /** The one that the next start goes back to. */
  restoring: string | null;
}

export function Backups() {
  const client = useQueryClient();
  const now = useNow(60_000);
  const list = useQuery({ queryKey: ['backups'], queryFn: () => api.get<BackupList>('backups') });
  const make = useMutation({
    mutationFn: () => api.post<BackupList>('backups', {}),
    onSuccess: (made) => { client.setQueryData(['backups'], made); toast.say('Backup made and checked.'); },
    onError: toast.problem,
  });
  const taken = (list: BackupList) => client.setQueryData(['backups'], list);
  const restore = useMutation({
    mutationFn: (name: string) => api.post<BackupList>(`backups/${encodeURIComponent(name)}/restore`),
    onSuccess: (list) => { taken(list); toast.say('Weft starts again with this backup.'); },
    onError: toast.problem,
  });
  const stay = useMutation({ mutationFn: () => api.remove<BackupList>('backups/restore'), onSuccess: taken, onError: toast.problem });
  const ask = async (backup: BackupList['backups'][number]) => {
    const made = new Date(backup.taken_at).toLocaleString();
    const yes = await askYes({ title: 'Go back to this backup?', verb: 'Go back', hint: `Weft starts again with its sessions as they were at ${made}. What there is now is kept in a file beside the database, so nothing is lost, but it is not shown any more. Files of your projects stay as they are.` });
    if (yes) restore.mutate(backup.name);
  };
  return (
    <Page query={list}>
      {(data) => (
        <Section title="Backups" says={<>Weft copies its database once a day and keeps the newest {data.kept}. If the database is damaged, the next start takes the newest good copy by itself.</>}>
          <div className="row bottom"><button type="button" className="button" disabled={make.isPending} onClick={() => make.mutate()}>{make.isPending ? 'Copying…' : 'Back up now'}</button></div>
          {data.backups.length === 0 ? <p className="muted">There is no backup yet.</p> : (
            <table className="table">
              <thead><tr><th>Made</th><th>File</th><th>Size</th><th><span className="hidden-text">Actions</span></th></tr></thead>
              <tbody>
                {data.backups.map((backup) => <tr key={backup.name}><td><time title={new Date(backup.taken_at).toLocaleString()}>{age(backup.taken_at, now)}</time></td><td><code>{backup.name}</code></td><td>{bytes(backup.bytes)}</td><td className="end"><button type="button" className="button small" disabled={restore.isPending} onClick={() => void ask(backup)}>Go back to it…</button></td></tr>)}
              </tbody>
            </table>
          )}
          {data.restoring ? (
            <p role="status" className="row wrap">Another Weft has the database open, so it could not go back to <code>{data.restoring}</code> yet; it does when it is started alone. <button type="button" className="button small" onClick={() => stay.mutate()}>Stay with what there is</button></p>
          ) : null}
          <p className="meta top">They lie in <code>{data.folder}</code>.</p>
        </Section>
      )}
    </Page>
  );
}

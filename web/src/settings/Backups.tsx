/** Copies of the database: which there are, one more now, and how one is put back. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client';
import { age, bytes } from '../session/words';
import { useNow } from '../shell/useNow';
import { toast } from '../shell/toast';
import { Page, Section } from './parts';

interface BackupList {
  folder: string;
  backups: { name: string; taken_at: number; bytes: number }[];
  kept: number;
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
  return (
    <Page query={list}>
      {(data) => (
        <Section title="Backups" says={<>Weft copies its database once a day and keeps the newest {data.kept}. If the database is damaged, the next start takes the newest good copy by itself.</>}>
          <div className="row bottom"><button type="button" className="button" disabled={make.isPending} onClick={() => make.mutate()}>{make.isPending ? 'Copying…' : 'Back up now'}</button></div>
          {data.backups.length === 0 ? <p className="muted">There is no backup yet.</p> : (
            <table className="table">
              <thead><tr><th>Made</th><th>File</th><th>Size</th></tr></thead>
              <tbody>
                {data.backups.map((backup) => <tr key={backup.name}><td><time title={new Date(backup.taken_at).toLocaleString()}>{age(backup.taken_at, now)}</time></td><td><code>{backup.name}</code></td><td>{bytes(backup.bytes)}</td></tr>)}
              </tbody>
            </table>
          )}
          <p className="meta top">They lie in <code>{data.folder}</code>. To go back to one, end every Weft, put it in the place of <code>weft.db</code> in the folder above, and start Weft again.</p>
        </Section>
      )}
    </Page>
  );
}

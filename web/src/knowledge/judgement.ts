/** What the server judges of what it knows: conflicts, answers checked sentence by sentence, the health of code. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client';
import { toast } from '../shell/toast';

export interface Conflict {
  id: number;
  kind: 'temporal' | 'mismatch' | 'semantic';
  subject: string;
  one_at: string;
  one_text: string;
  other_at: string;
  other_text: string;
  description: string;
  detected_at: number;
  counts: string | null;
  resolution: string | null;
}
export interface Check {
  axis: 'citation' | 'entity' | 'relation' | 'contradiction';
  claim: number;
  item: string;
  holds: boolean;
  why: string;
  evidence: { source: string; text: string }[];
}
export interface Verified {
  entity: number;
  citation: number;
  relation: number;
  contradictions: number;
  claims: { text: string; cites: string[] }[];
  checks: Check[];
}
export interface Area {
  area: string;
  maturity: 'DISCIPLINED' | 'TRANSITIONAL' | 'LEGACY' | 'GREENFIELD';
  pattern_confidence: number;
  test_coverage: string | null;
  coverage_report: string | null;
  files: number;
  lines: number;
  functions: number;
  tests: number;
  documented: number;
  debt_count: number;
  debt: { path: string; line: number; mark: string; text: string }[];
  recommendation: string;
  warning: string | null;
}

export const useConflicts = (workspace: string, all: boolean) =>
  useQuery({
    queryKey: ['knowledge', 'conflicts', workspace, all],
    queryFn: ({ signal }) => api.get<{ conflicts: Conflict[] }>('knowledge/conflicts', { workspace, all }, signal),
    placeholderData: (before) => before,
  });

export function useFindConflicts(workspace: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.post<{ found: number }>('knowledge/conflicts', {}, { workspace }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['knowledge', 'conflicts'] }),
    onError: toast.problem,
  });
}

export function useSettle(workspace: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, resolution }: { id: number; resolution: string }) =>
      api.put(`knowledge/conflicts/${id}`, { resolution, ...(workspace ? { workspace } : {}) }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['knowledge', 'conflicts'] }),
    onError: toast.problem,
  });
}

export const useVerify = (workspace: string) =>
  useMutation({
    mutationFn: (text: string) => api.post<Verified>('knowledge/verify', { text, ...(workspace ? { workspace } : {}) }),
    onError: toast.problem,
  });

export const useHealth = (path: string, workspace: string) =>
  useQuery({
    queryKey: ['knowledge', 'health', workspace, path],
    queryFn: ({ signal }) => api.get<{ areas: Area[] }>('knowledge/health', { path, workspace }, signal),
    placeholderData: (before) => before,
    retry: false,
  });

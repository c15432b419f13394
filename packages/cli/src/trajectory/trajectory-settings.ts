/** Where a trajectory is read. */
export type TrajectorySource =
  /** Absolute. */
  | { readonly type: 'file'; readonly path: string }
  | {
      readonly type: 'proxy';
      readonly url: string;
      readonly of: { readonly taskId: string } | { readonly contextId: string };
    };

export const EXPORT_FORMATS = ['otlp', 'atif', 'json'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** `parley trajectory …`, read and checked. */
export type TrajectorySettings =
  | {
      readonly type: 'trajectory-show';
      readonly source: TrajectorySource;
      /** Stays until the turn has ended. */
      readonly follows: boolean;
    }
  | { readonly type: 'trajectory-verify'; readonly source: TrajectorySource }
  | { readonly type: 'trajectory-export'; readonly source: TrajectorySource; readonly format: ExportFormat };

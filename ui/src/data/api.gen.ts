// Made by `npm run types` from the server's OpenAPI description. Not to be edited.

export interface paths {
    "/api/about": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get About
         * @description What this server is, and what can be done with it.
         */
        get: operations["get_about"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Runs
         * @description The runs that are kept, newest first; none where no store is yet.
         */
        get: operations["list_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run
         * @description One run: an id, the beginning of one, or `latest`.
         */
        get: operations["get_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run Notes
         * @description What takes a look at all evidence of a run to know.
         */
        get: operations["get_run_notes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Cases
         * @description Some of a run's cases in their order, or all of them.
         */
        get: operations["list_cases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AboutPage
         * @description Which Proctor this is, and of which project.
         */
        AboutPage: {
            /** Version */
            version: string;
            /** Project */
            project: string;
        };
        /**
         * Against
         * @description The run that this one is held against, and what came of that.
         */
        Against: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Kind */
            kind: string;
            /** Created At */
            created_at: number;
            outcome: components["schemas"]["Outcome"] | null;
            pass_rate: components["schemas"]["Share"];
            /** Worse */
            worse: number;
            /** Better */
            better: number;
            /** Same */
            same: number;
            /** Unpaired */
            unpaired: number;
        };
        /**
         * CaseRow
         * @description One case of a run.
         */
        CaseRow: {
            /** Position */
            position: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            outcome: components["schemas"]["Outcome"];
            /** Strip */
            strip: string;
            /** Why */
            why: string;
            /** Scores */
            scores: {
                [key: string]: number | null;
            };
            /** Missed */
            missed: string[];
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Cost */
            cost: number | null;
            /** Seconds */
            seconds: number | null;
            /** Tokens */
            tokens: number | null;
            /** Flaky */
            flaky: boolean;
            /** Played */
            played: boolean;
            /** Tags */
            tags: string[];
            /** Place */
            place: string;
            /** Change */
            change: ("worse" | "better") | null;
            was: components["schemas"]["Outcome"] | null;
        };
        /**
         * CasesPage
         * @description Some of a run's cases, in their order.
         */
        CasesPage: {
            /** Items */
            items: components["schemas"]["CaseRow"][];
            /** Total */
            total: number;
        };
        /** HTTPValidationError */
        HTTPValidationError: {
            /** Detail */
            detail?: components["schemas"]["ValidationError"][];
        };
        /**
         * JudgePart
         * @description Who gave the verdicts of a metric.
         */
        JudgePart: {
            /** Metric */
            metric: string;
            /** Model */
            model: string;
            /** Prompt */
            prompt: string;
            /** Badge */
            badge: string;
            /** Void */
            void: boolean;
        };
        /**
         * JudgingPart
         * @description One pass of judging over the run's evidence.
         */
        JudgingPart: {
            /** Number */
            number: number;
            /** Created At */
            created_at: number;
            /** Config Sources */
            config_sources: string[];
            /** Finished */
            finished: boolean;
            /** Counts */
            counts: boolean;
        };
        /**
         * ManifestPart
         * @description What exactly was run.
         */
        ManifestPart: {
            /** Reference */
            reference: string | null;
            /** Agent Version */
            agent_version: string | null;
            /** Commit */
            commit: string | null;
            /** Command */
            command: string[];
            /** Folder */
            folder: string;
            /** Versions */
            versions: {
                [key: string]: string;
            };
            /** Models */
            models: string[];
            /** Imported From */
            imported_from: string;
        };
        /**
         * MeanFigure
         * @description A mean with its uncertainty; the interval (95 %) is null where there is only one case.
         */
        MeanFigure: {
            /** Value */
            value: number;
            /** Standard Error */
            standard_error: number | null;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Cases */
            cases: number;
            /** Values */
            values: number;
        };
        /**
         * MetricPart
         * @description What one metric says over all cases.
         */
        MetricPart: {
            /** Name */
            name: string;
            /** Short */
            short: string;
            /** Gate */
            gate: boolean;
            /** Thresholds */
            thresholds: number[];
            mean: components["schemas"]["MeanFigure"] | null;
            /** Outcomes */
            outcomes: {
                [key: string]: number;
            };
        };
        /**
         * MoneyPart
         * @description What models took for one purpose.
         */
        MoneyPart: {
            /** Purpose */
            purpose: string;
            /** Name */
            name: string;
            /** Cost */
            cost: number | null;
            /** Text */
            text: string;
            /** Calls */
            calls: number;
            /** Cached */
            cached: number;
            /** Tokens */
            tokens: number;
            /** Unpriced */
            unpriced: string[];
        };
        /**
         * NotesPage
         * @description What takes a look at all evidence of a run to know.
         */
        NotesPage: {
            /** Warnings */
            warnings: string[];
            /** At Fault */
            at_fault: components["schemas"]["Rate"][];
            /** Fault Kinds */
            fault_kinds: {
                [key: string]: number;
            };
            /** P95 Turn */
            p95_turn: number | null;
        };
        /**
         * Outcome
         * @description How something ended. Only *passed* is green.
         * @enum {string}
         */
        Outcome: "passed" | "failed" | "error" | "inconclusive" | "skipped" | "not_run" | "not_applicable" | "informational";
        /**
         * PassK
         * @description How sure it is that `k` trials of a case all pass (`hat`), and that one of them does (`at`).
         */
        PassK: {
            /** K */
            k: number;
            hat: components["schemas"]["MeanFigure"] | null;
            at: components["schemas"]["MeanFigure"] | null;
        };
        /**
         * Rate
         * @description How often somebody was at fault in played conversations.
         */
        Rate: {
            /** Who */
            who: string;
            share: components["schemas"]["Share"];
        };
        /**
         * RunPage
         * @description One judging of one run.
         */
        RunPage: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Agent */
            agent: string;
            state: components["schemas"]["RunState"];
            outcome: components["schemas"]["Outcome"];
            /** Sentence */
            sentence: string;
            /** Exit Code */
            exit_code: number;
            /** Created At */
            created_at: number;
            /** Duration */
            duration: number;
            /** Judging Duration */
            judging_duration: number | null;
            /** Interrupted */
            interrupted: boolean;
            /** Stopped By */
            stopped_by: string;
            /** Failure */
            failure: string;
            /** Cases */
            cases: number;
            /** Num Runs */
            num_runs: number;
            /** Counts */
            counts: {
                [key: string]: number;
            };
            /** Trials */
            trials: {
                [key: string]: number;
            };
            /** Planned Trials */
            planned_trials: number;
            pass_rate: components["schemas"]["Share"];
            /** Pass Rate Text */
            pass_rate_text: string;
            /** Flaky */
            flaky: number;
            /** Pass K */
            pass_k: components["schemas"]["PassK"][];
            /** Metrics */
            metrics: components["schemas"]["MetricPart"][];
            /** Figures */
            figures: string[];
            /** Cost */
            cost: number | null;
            /** Cost Text */
            cost_text: string;
            /** Money */
            money: components["schemas"]["MoneyPart"][];
            /** Judges */
            judges: components["schemas"]["JudgePart"][];
            /** Sets */
            sets: components["schemas"]["SetPart"][];
            /** Warnings */
            warnings: string[];
            /** Judgings */
            judgings: components["schemas"]["JudgingPart"][];
            /** Judging */
            judging: number;
            manifest: components["schemas"]["ManifestPart"];
            against: components["schemas"]["Against"] | null;
        };
        /**
         * RunRow
         * @description A run in a list.
         */
        RunRow: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            state: components["schemas"]["RunState"];
            outcome: components["schemas"]["Outcome"] | null;
            /** Standing */
            standing: string;
            /** Created At */
            created_at: number;
            /** Agent */
            agent: string;
            /** Commit */
            commit: string | null;
            /** Sets */
            sets: string[];
            /** Cases */
            cases: number;
            /** Num Runs */
            num_runs: number;
            /** Counts */
            counts: {
                [key: string]: number;
            };
            pass_rate: components["schemas"]["Share"];
            /** Duration */
            duration: number;
            /** Cost */
            cost: number | null;
            /** Cost Text */
            cost_text: string;
            /** Stopped By */
            stopped_by: string;
            /** Interrupted */
            interrupted: boolean;
            /** Judgings */
            judgings: number;
            /** Judging */
            judging: number;
            /** Imported From */
            imported_from: string;
            /** Trend */
            trend: number[];
        };
        /**
         * RunState
         * @description Where a run stands.
         * @enum {string}
         */
        RunState: "running" | "unfinished" | "finished";
        /**
         * RunsPage
         * @description Some of the runs.
         */
        RunsPage: {
            /** Items */
            items: components["schemas"]["RunRow"][];
            /** Next */
            next: string | null;
            /** Total */
            total: number;
        };
        /**
         * SetPart
         * @description One eval set of the run.
         */
        SetPart: {
            /** Eval Set Id */
            eval_set_id: string;
            /** Name */
            name: string;
            /** Path */
            path: string | null;
            /** Cases */
            cases: number;
            /** Num Runs */
            num_runs: number;
            /** Config Source */
            config_source: string;
            /** Criteria */
            criteria: {
                [key: string]: unknown;
            };
            /** Rule */
            rule: string;
            /** Metrics */
            metrics: string[];
            /** Left Out */
            left_out: {
                [key: string]: string;
            };
            /** Failure */
            failure: string;
            /** Pass K */
            pass_k: components["schemas"]["PassK"][];
        };
        /**
         * Share
         * @description How many of some number, as a rate from 0 to 1 with its 95 % Wilson interval; no rate where there are none.
         */
        Share: {
            /** Count */
            count: number;
            /** Of */
            of: number;
            /** Rate */
            rate: number | null;
            /** Low */
            low: number;
            /** High */
            high: number;
        };
        /** ValidationError */
        ValidationError: {
            /** Location */
            loc: (string | number)[];
            /** Message */
            msg: string;
            /** Error Type */
            type: string;
            /** Input */
            input?: unknown;
            /** Context */
            ctx?: Record<string, never>;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_about: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AboutPage"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                limit?: number;
                /** @description `next` of the page before. */
                before?: string | null;
                /** @description `*` and `?` stand for anything. */
                agent?: string | null;
                /** @description An eval set's id, or its file. */
                set?: string | null;
                outcome?: components["schemas"]["Outcome"][] | null;
                state?: components["schemas"]["RunState"][] | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunsPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_run: {
        parameters: {
            query?: {
                /** @description Which judging; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_run_notes: {
        parameters: {
            query?: {
                /** @description Which judging; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotesPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    list_cases: {
        parameters: {
            query?: {
                /** @description Which judging; by default the one that counts. */
                judging?: number | null;
                offset?: number;
                /** @description By default all. */
                limit?: number | null;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CasesPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
}

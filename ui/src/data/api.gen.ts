// Made by `npm run types` from the server's OpenAPI description. Not to be edited.

export interface paths {
    "/api/eval-sets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Eval Sets
         * @description Return every eval set of the project, by path.
         */
        get: operations["list_eval_sets"];
        put?: never;
        /**
         * Create Set
         * @description Make a new set without cases.
         */
        post: operations["create_set"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Eval Set
         * @description Return one set with everything that is wrong or doubtful in it.
         */
        get: operations["get_eval_set"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/migrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Migrate Eval Set
         * @description Write a set of an old format anew, in today's, beside the old file; that one stays.
         */
        post: operations["migrate_eval_set"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Eval Cases
         * @description Return cases of a set, in the order of the file.
         */
        get: operations["list_eval_cases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/case": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Eval Case
         * @description Return one case with every key that it has; the ETag is what a change has to name.
         */
        get: operations["get_eval_case"];
        /**
         * Save Eval Case
         * @description Make a case say something else; what does not differ keeps its bytes in the file.
         */
        put: operations["save_eval_case"];
        /**
         * Add Eval Case
         * @description Put a new case behind those of a set.
         */
        post: operations["add_eval_case"];
        /**
         * Remove Eval Case
         * @description Take a case out of a set.
         */
        delete: operations["remove_eval_case"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/case/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Eval Case
         * @description Return what saving would do to the file, line by line; nothing is written.
         */
        post: operations["preview_eval_case"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore Eval Case
         * @description Bring a removed case back: the file is what it was, byte for byte.
         */
        post: operations["restore_eval_case"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
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
        /**
         * Start Run
         * @description Start a run, in a process of its own. All that is wrong is said at once, and then nothing is run.
         */
        post: operations["start_run"];
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
    "/api/runs/{run}/cases/{position}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Case
         * @description One case of a run: its verdict, metrics, trials, and how it was judged before.
         */
        get: operations["get_case"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Trial
         * @description One trial, turn by turn beside what was expected.
         */
        get: operations["get_trial"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/spans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Spans
         * @description One trial over time.
         */
        get: operations["get_spans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/judges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Judges
         * @description What judges said of one trial, and what people say of the same.
         */
        get: operations["get_judges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/judges/{metric}/prompt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Prompt
         * @description What the judge of a metric was asked about a turn; no model is asked for it.
         */
        get: operations["get_prompt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Evidence
         * @description The evidence of one trial, whole, as JSON.
         */
        get: operations["get_evidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/labels/{metric}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put Label
         * @description Keep a label; one of the same thing that was there before is replaced.
         */
        put: operations["put_label"];
        post?: never;
        /**
         * Delete Label
         * @description Take a label back; one that is not there is no mistake.
         */
        delete: operations["delete_label"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/bless/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Bless
         * @description What would be written into the eval sets, case by case. Nothing is; the ETag names the files' state.
         */
        post: operations["preview_bless"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/bless": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bless Cases
         * @description Write what was reviewed; each file is replaced whole, or not at all.
         */
        post: operations["bless_cases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Agents
         * @description The agents that may be started from the page: those that the server was started with, and `replay`.
         */
        get: operations["list_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Metrics
         * @description Every metric: what it measures, what it needs, its options and what each may be.
         */
        get: operations["list_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Start
         * @description The eval sets and configs below the project's folder, and what holds where nothing is said.
         */
        get: operations["get_start"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/start/set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Start Set
         * @description The cases of one eval set, to choose from.
         */
        get: operations["get_start_set"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/estimates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate Run
         * @description What a run would take, and what that rests on; all that is wrong with it where it could not be run.
         */
        post: operations["estimate_run"];
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
         * AgentChoice
         * @description An agent that may be started from the page.
         */
        AgentChoice: {
            /** Name */
            name: string;
            /** Reference */
            reference: string;
        };
        /**
         * AgentPart
         * @description What an agent was told and had.
         */
        AgentPart: {
            /** Name */
            name: string;
            instructions: components["schemas"]["Clip"] | null;
            /** Tools */
            tools: string[];
        };
        /**
         * AgentsPage
         * @description The agents that may be started from the page.
         */
        AgentsPage: {
            /** Items */
            items: components["schemas"]["AgentChoice"][];
            /** Can Run */
            can_run: boolean;
            /** Why Not */
            why_not: string;
        };
        /**
         * AnswerPart
         * @description The answer of a turn, beside the expected one.
         */
        AnswerPart: {
            expected: components["schemas"]["Marked"] | null;
            actual: components["schemas"]["Marked"] | null;
            /** Same */
            same: boolean;
        };
        /**
         * AskedMessage
         * @description One message to a judge.
         */
        AskedMessage: {
            /** Role */
            role: string;
            text: components["schemas"]["Clip"];
        };
        /**
         * BallotPart
         * @description One question that a judge was asked, and its votes.
         */
        BallotPart: {
            /** Metric */
            metric: string;
            /** Turn */
            turn: number | null;
            outcome: components["schemas"]["Outcome"];
            /** Score */
            score: number | null;
            /** Threshold */
            threshold: number | null;
            /** Reason */
            reason: string;
            /** Model */
            model: string;
            /** Prompt */
            prompt: string;
            /** Planned */
            planned: number | null;
            /** Agreement */
            agreement: number | null;
            /** Votes */
            votes: components["schemas"]["VotePart"][];
            /** Findings */
            findings: components["schemas"]["FindingPart"][];
            /** Rubrics */
            rubrics: boolean;
            /** Labels */
            labels: components["schemas"]["LabelPart"][];
        };
        /**
         * Begun
         * @description A run that was started.
         */
        Begun: {
            /** Run Id */
            run_id: string;
            /** Trials */
            trials: number;
            /** Command */
            command: string;
        };
        /**
         * BlessCase
         * @description One case, and what becomes of it.
         */
        BlessCase: {
            /** Position */
            position: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            outcome: components["schemas"]["Outcome"];
            /** Trials */
            trials: number;
            /** Trial */
            trial: number | null;
            /**
             * Status
             * @enum {string}
             */
            status: "changes" | "same" | "refused";
            /** Why */
            why: string;
            /** Choose */
            choose: boolean;
            /** Path */
            path: string;
            /** Changes */
            changes: components["schemas"]["CaseChange"][];
            /** Hunks */
            hunks: components["schemas"]["Hunk"][];
            /** Lost */
            lost: string[];
        };
        /**
         * BlessFile
         * @description One file, and what is to be known of it as a whole.
         */
        BlessFile: {
            /** Path */
            path: string;
            /** Lost */
            lost: string[];
        };
        /**
         * BlessPage
         * @description What a blessing of a run would write. Nothing has been written.
         */
        BlessPage: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Agent */
            agent: string;
            /** Etag */
            etag: string;
            /** Cases */
            cases: components["schemas"]["BlessCase"][];
            /** Files */
            files: components["schemas"]["BlessFile"][];
            /** Problems */
            problems: string[];
            /** Command */
            command: string;
        };
        /**
         * BlessToPreview
         * @description Which cases, and from which trials.
         */
        BlessToPreview: {
            /** Cases */
            cases?: number[] | null;
            /** Trials */
            trials?: {
                [key: string]: number;
            };
            /**
             * Force
             * @default false
             */
            force: boolean;
        };
        /**
         * BlessToWrite
         * @description What was agreed to.
         */
        BlessToWrite: {
            /** Cases */
            cases: number[];
            /** Trials */
            trials?: {
                [key: string]: number;
            };
            /**
             * Force
             * @default false
             */
            force: boolean;
            /**
             * Lose Comments
             * @default false
             */
            lose_comments: boolean;
        };
        /**
         * BlessedFile
         * @description A file that was written.
         */
        BlessedFile: {
            /** Path */
            path: string;
            /** Cases */
            cases: string[];
        };
        /**
         * BlessedPage
         * @description What was written.
         */
        BlessedPage: {
            /** Files */
            files: components["schemas"]["BlessedFile"][];
            /** Etag */
            etag: string;
        };
        /**
         * CaseBefore
         * @description What the case came to in the run before.
         */
        CaseBefore: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Position */
            position: number;
            outcome: components["schemas"]["Outcome"];
            /** Created At */
            created_at: number;
        };
        /**
         * CaseChange
         * @description One thing of a case that would be another one.
         */
        CaseChange: {
            /** Path */
            path: string;
            before: components["schemas"]["Marked"] | null;
            after: components["schemas"]["Marked"] | null;
        };
        /**
         * CaseDraft
         * @description A case as it is to be.
         */
        CaseDraft: {
            /** Value */
            value: {
                [key: string]: unknown;
            };
            /**
             * Comments May Go
             * @default false
             */
            comments_may_go: boolean;
        };
        /**
         * CasePage
         * @description One case of a run.
         */
        CasePage: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Agent */
            agent: string;
            /** Began */
            began: number;
            /** Judging */
            judging: number;
            /** Position */
            position: number;
            /** Total */
            total: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            /** Place */
            place: string;
            outcome: components["schemas"]["Outcome"];
            /** Sentence */
            sentence: string;
            /** Reason */
            reason: string;
            share: components["schemas"]["PassedTrials"] | null;
            /** Trials */
            trials: components["schemas"]["TrialLine"][];
            /** Metrics */
            metrics: components["schemas"]["MetricLine"][];
            /** Warnings */
            warnings: string[];
            /** History */
            history: components["schemas"]["JudgedLine"][];
            /** Scenario */
            scenario: components["schemas"]["ToldPart"][];
            previous: components["schemas"]["CasePlace"] | null;
            next: components["schemas"]["CasePlace"] | null;
            before: components["schemas"]["CaseBefore"] | null;
            /** Command */
            command: string;
            /** Hint */
            hint: string;
        };
        /**
         * CasePlace
         * @description Another case of the run.
         */
        CasePlace: {
            /** Position */
            position: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
        };
        /**
         * CasePreview
         * @description What saving would do to the file.
         */
        CasePreview: {
            /** Lines */
            lines: components["schemas"]["DiffLine"][];
            /** Lost */
            lost: string[];
            /** Doubtful */
            doubtful: components["schemas"]["FieldNote"][];
        };
        /**
         * CaseRefusal
         * @description Why a case was not written.
         */
        CaseRefusal: {
            /** Detail */
            detail: string;
            /** Fields */
            fields: components["schemas"]["FieldNote"][];
            /** Lost */
            lost: string[];
            /** Theirs */
            theirs: unknown;
            /** Version */
            version: string;
            /** Changed */
            changed: string[];
        };
        /**
         * CaseRemoved
         * @description A case that is no longer there.
         */
        CaseRemoved: {
            /** Eval Id */
            eval_id: string;
            /** Undo */
            undo: string;
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
         * CaseSaved
         * @description A case that was written.
         */
        CaseSaved: {
            /** Eval Id */
            eval_id: string;
            /** Position */
            position: number;
            /** Line */
            line: number;
            /** Version */
            version: string;
            /** Value */
            value: unknown;
            /** Doubtful */
            doubtful: components["schemas"]["FieldNote"][];
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
        /**
         * CausePart
         * @description Why something could not be computed.
         */
        CausePart: {
            /** Where */
            where: string;
            /** What */
            what: string;
            /** Error */
            error: string;
            /** Place */
            place: string;
            /** Code */
            code: string;
            traceback: components["schemas"]["Clip"] | null;
            /** Turn */
            turn: number | null;
            /** Infrastructure */
            infrastructure: boolean;
        };
        /**
         * ChosenSet
         * @description An eval set of a run to be started.
         */
        ChosenSet: {
            /** Path */
            path: string;
            /** Cases */
            cases?: string[] | null;
        };
        /**
         * Clip
         * @description A text, or its beginning.
         */
        Clip: {
            /** Text */
            text: string;
            /** Left Out */
            left_out: number;
        };
        /**
         * Detail
         * @description What is wrong.
         */
        Detail: {
            /** Detail */
            detail: string;
        };
        /**
         * DiffLine
         * @description One line of a file's difference.
         */
        DiffLine: {
            /** Sign */
            sign: string;
            /** Number */
            number: number | null;
            /** Text */
            text: string;
        };
        /**
         * EstimatePage
         * @description What a run will take, and what that rests on.
         */
        EstimatePage: {
            /** Cases */
            cases: number;
            /** Trials */
            trials: number;
            /** Confidence */
            confidence: number;
            /** Run Id */
            run_id: string | null;
            /** Seen */
            seen: number;
            cost: components["schemas"]["Forecast"] | null;
            seconds: components["schemas"]["Forecast"] | null;
            /** Purposes */
            purposes: components["schemas"]["PurposeFigures"][];
            /** Notes */
            notes: string[];
            /** Command */
            command: string;
        };
        /**
         * EvalCaseList
         * @description Cases of a set, in the order of the file.
         */
        EvalCaseList: {
            /** Items */
            items: components["schemas"]["EvalCaseRow"][];
            /** Total */
            total: number;
        };
        /**
         * EvalCasePage
         * @description One case as its file has it.
         */
        EvalCasePage: {
            /** Eval Set */
            eval_set: string;
            /** Eval Set Id */
            eval_set_id: string;
            /** Path */
            path: string;
            /** Form */
            form: string;
            /** Eval Id */
            eval_id: string;
            /** Position */
            position: number;
            /** Line */
            line: number;
            /** Total */
            total: number;
            /** Previous */
            previous: string | null;
            /** Next */
            next: string | null;
            /** Version */
            version: string;
            /** Can Edit */
            can_edit: boolean;
            /** Why Not */
            why_not: string;
            /** Value */
            value: unknown;
            /** Doubtful */
            doubtful: components["schemas"]["FieldNote"][];
            /** Problems */
            problems: components["schemas"]["ProblemNote"][];
            /** Personas */
            personas: string[];
        };
        /**
         * EvalCaseRow
         * @description One case in the list of a set's cases.
         */
        EvalCaseRow: {
            /** Position */
            position: number;
            /** Eval Id */
            eval_id: string;
            /** Line */
            line: number;
            /** Kind */
            kind: string;
            /** Turns */
            turns: number;
            /** Asks */
            asks: string;
            /** Calls */
            calls: number;
            /** Tags */
            tags: string[];
            /** Rubrics */
            rubrics: number;
            /** Has State */
            has_state: boolean;
            /** Errors */
            errors: number;
            /** Warnings */
            warnings: number;
        };
        /**
         * EvalSetList
         * @description All eval sets of a project, by path.
         */
        EvalSetList: {
            /** Items */
            items: components["schemas"]["EvalSetRow"][];
            /** Folders */
            folders: string[];
        };
        /**
         * EvalSetPage
         * @description One eval set, without its cases.
         */
        EvalSetPage: {
            /** Id */
            id: string;
            /** Path */
            path: string;
            /** Eval Set Id */
            eval_set_id: string | null;
            /** Name */
            name: string | null;
            /** Form */
            form: string;
            /** Kind */
            kind: string;
            /** Can Edit */
            can_edit: boolean;
            /** Is Old */
            is_old: boolean;
            /** Cases */
            cases: number | null;
            /** Errors */
            errors: number;
            /** Warnings */
            warnings: number;
            /** First Problem */
            first_problem: string | null;
            /** Description */
            description: string | null;
            /** Why Not */
            why_not: string;
            /** Migrates To */
            migrates_to: string | null;
            /** Problems */
            problems: components["schemas"]["ProblemNote"][];
            /** Command */
            command: string;
        };
        /**
         * EvalSetRow
         * @description One eval set in the list of all.
         */
        EvalSetRow: {
            /** Id */
            id: string;
            /** Path */
            path: string;
            /** Eval Set Id */
            eval_set_id: string | null;
            /** Name */
            name: string | null;
            /** Form */
            form: string;
            /** Kind */
            kind: string;
            /** Can Edit */
            can_edit: boolean;
            /** Is Old */
            is_old: boolean;
            /** Cases */
            cases: number | null;
            /** Errors */
            errors: number;
            /** Warnings */
            warnings: number;
            /** First Problem */
            first_problem: string | null;
        };
        /**
         * FieldNote
         * @description Something about one field of a case.
         */
        FieldNote: {
            /** Pointer */
            pointer: string;
            /** Message */
            message: string;
            /** Hint */
            hint: string;
        };
        /**
         * FindingPart
         * @description What a judge found for one thing: a rubric, a sentence.
         */
        FindingPart: {
            /** Holds */
            holds: boolean | null;
            /** Name */
            name: string;
            /** Text */
            text: string;
            /** Why */
            why: string;
        };
        /**
         * Forecast
         * @description A figure of a run to come, with the interval that it will lie in.
         */
        Forecast: {
            /** Value */
            value: number;
            /** Low */
            low?: number | null;
            /** High */
            high?: number | null;
        } & {
            [key: string]: unknown;
        };
        /** HTTPValidationError */
        HTTPValidationError: {
            /** Detail */
            detail?: components["schemas"]["ValidationError"][];
        };
        /**
         * Hunk
         * @description A stretch of the file in which something changes.
         */
        Hunk: {
            /** Before */
            before: number;
            /** After */
            after: number;
            /** Lines */
            lines: components["schemas"]["HunkLine"][];
        };
        /**
         * HunkLine
         * @description A line of the file.
         */
        HunkLine: {
            /**
             * Sign
             * @enum {string}
             */
            sign: " " | "-" | "+";
            /** Text */
            text: string;
        };
        /**
         * JudgeOfTrial
         * @description One metric that asks a model.
         */
        JudgeOfTrial: {
            /** Metric */
            metric: string;
            outcome: components["schemas"]["Outcome"];
            /** Score */
            score: number | null;
            /** Threshold */
            threshold: number | null;
            /** Badge */
            badge: string;
            failure: components["schemas"]["CausePart"] | null;
            /** Cost */
            cost: number | null;
            /** Tokens */
            tokens: number;
            /** Ballots */
            ballots: components["schemas"]["BallotPart"][];
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
         * JudgedLine
         * @description What the case came to in one judging of its run.
         */
        JudgedLine: {
            /** Number */
            number: number;
            /** Created At */
            created_at: number;
            /** Criteria */
            criteria: string;
            outcome: components["schemas"]["Outcome"];
            /** Reason */
            reason: string;
            /** Metrics */
            metrics: components["schemas"]["JudgedMetric"][];
        };
        /**
         * JudgedMetric
         * @description A metric in another judging.
         */
        JudgedMetric: {
            /** Name */
            name: string;
            outcome: components["schemas"]["Outcome"];
            /** Held */
            held: string;
        };
        /**
         * JudgesPage
         * @description What judges said of a trial.
         */
        JudgesPage: {
            /** Run Id */
            run_id: string;
            /** Position */
            position: number;
            /** Number */
            number: number;
            /** Judges */
            judges: components["schemas"]["JudgeOfTrial"][];
            /** Labels */
            labels: components["schemas"]["LabelPart"][];
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
         * Kind
         * @description How the two sides of one line relate.
         * @enum {string}
         */
        Kind: "same" | "differs" | "missing" | "extra" | "moved";
        /**
         * LabelPart
         * @description What a person says of a trial, of one of its turns, or of one rubric in it.
         */
        LabelPart: {
            /** Metric */
            metric: string;
            /** Turn */
            turn: number | null;
            /** Rubric Id */
            rubric_id: string;
            /** Passes */
            passes: boolean;
            /** Note */
            note: string;
        };
        /**
         * LabelToPut
         * @description What a person says.
         */
        LabelToPut: {
            /** Passes */
            passes: boolean;
            /** Turn */
            turn?: number | null;
            /**
             * Rubric Id
             * @default
             */
            rubric_id: string;
            /**
             * Note
             * @default
             */
            note: string;
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
         * Marked
         * @description A text in pieces.
         */
        Marked: {
            /** Pieces */
            pieces: components["schemas"]["Piece"][];
            /** Left Out */
            left_out: number;
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
         * MetricInfo
         * @description What there is to know about a metric without running it.
         */
        MetricInfo: {
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Kind */
            kind: string;
            /** Needs */
            needs: string[];
            /** Asks Judge */
            asks_judge: boolean;
            /** Gates */
            gates: boolean;
            /** Minimum */
            minimum: number | null;
            /** Maximum */
            maximum: number | null;
            /** Default Threshold */
            default_threshold: number | null;
            /** Options */
            options: components["schemas"]["OptionFacts"][];
            /** Example */
            example: {
                [key: string]: unknown;
            } | null;
            /** Source */
            source: string;
        };
        /**
         * MetricLine
         * @description What a metric says of the case.
         */
        MetricLine: {
            /** Name */
            name: string;
            outcome: components["schemas"]["Outcome"];
            /** Gate */
            gate: boolean;
            /** Score */
            score: number | null;
            /** Threshold */
            threshold: number | null;
            /** Held */
            held: string;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Reason */
            reason: string;
            /** Badge */
            badge: string;
            /** Trials */
            trials: components["schemas"]["MetricTrial"][];
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
         * MetricTrial
         * @description What a metric says of one trial.
         */
        MetricTrial: {
            /** Score */
            score: number | null;
            outcome: components["schemas"]["Outcome"];
        };
        /**
         * MetricsPage
         * @description Every metric.
         */
        MetricsPage: {
            /** Items */
            items: components["schemas"]["MetricInfo"][];
            /** Judge */
            judge: string;
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
         * NewEvalSet
         * @description A set to be made.
         */
        NewEvalSet: {
            /** Name */
            name: string;
            /**
             * Folder
             * @default
             */
            folder: string;
            /**
             * Form
             * @default json
             * @enum {string}
             */
            form: "json" | "yaml" | "lines";
        };
        /**
         * NotePart
         * @description A sentence with its label.
         */
        NotePart: {
            /** Label */
            label: string;
            /** Text */
            text: string;
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
         * OptionFacts
         * @description One option of a metric's criterion.
         */
        OptionFacts: {
            /** Name */
            name: string;
            /** Meaning */
            meaning: string;
            /** Required */
            required: boolean;
            /** Json Schema */
            json_schema: {
                [key: string]: unknown;
            };
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
         * PassedTrials
         * @description How many trials passed, with the interval of their share.
         */
        PassedTrials: {
            /** Passed */
            passed: number;
            /** Of */
            of: number;
            /** Low */
            low: number;
            /** High */
            high: number;
            /** Confidence */
            confidence: number;
            /** Flaky */
            flaky: boolean;
        };
        /**
         * Piece
         * @description A stretch of text; `changed` where the two sides differ in it.
         */
        Piece: {
            /** Text */
            text: string;
            /** Changed */
            changed: boolean;
        };
        /**
         * PlayedPart
         * @description Who played the user.
         */
        PlayedPart: {
            /** Simulator */
            simulator: string;
            /** Model */
            model: string;
            /** Opening */
            opening: number | null;
            /** Ended */
            ended: string;
            /** Faults */
            faults: components["schemas"]["NotePart"][];
        };
        /**
         * Problem
         * @description One thing that is wrong with what was asked for.
         */
        Problem: {
            /** Field */
            field: string;
            /** Message */
            message: string;
            /** Metric */
            metric: string;
        };
        /**
         * ProblemNote
         * @description One thing that is wrong or doubtful in a file.
         */
        ProblemNote: {
            /** Severity */
            severity: string;
            /** File */
            file: string | null;
            /** Line */
            line: number;
            /** Column */
            column: number;
            /** Field */
            field: string;
            /** Message */
            message: string;
            /** Hint */
            hint: string;
            /** Position */
            position: number | null;
        };
        /**
         * Problems
         * @description Why nothing was started.
         */
        Problems: {
            /** Detail */
            detail: string;
            /** Problems */
            problems: components["schemas"]["Problem"][];
        };
        /**
         * PromptPage
         * @description What a judge was asked.
         */
        PromptPage: {
            /** Metric */
            metric: string;
            /** Turn */
            turn: number | null;
            /** Messages */
            messages: components["schemas"]["AskedMessage"][];
            /** Same */
            same: boolean;
            /** Told */
            told: string;
        };
        /**
         * PurposeFigures
         * @description What calls for one purpose will take; null: not known.
         */
        PurposeFigures: {
            /** Purpose */
            purpose: string;
            calls: components["schemas"]["Forecast"] | null;
            tokens: components["schemas"]["Forecast"] | null;
            cost: components["schemas"]["Forecast"] | null;
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
         * SaidPart
         * @description What an agent said before its answer.
         */
        SaidPart: {
            /** Author */
            author: string;
            text: components["schemas"]["Clip"];
            /** Thought */
            thought: boolean;
            /** Before */
            before: number;
        };
        /**
         * ScorePart
         * @description What one metric says of a turn, or of the trial as a whole.
         */
        ScorePart: {
            /** Name */
            name: string;
            outcome: components["schemas"]["Outcome"];
            /** Gate */
            gate: boolean;
            /** Score */
            score: number | null;
            /** Threshold */
            threshold: number | null;
            /** Reason */
            reason: string;
            /** Warning */
            warning: string;
            /** Findings */
            findings: components["schemas"]["FindingPart"][];
            /** Notes */
            notes: components["schemas"]["NotePart"][];
            failure: components["schemas"]["CausePart"] | null;
        };
        /**
         * SetFile
         * @description An eval set to choose.
         */
        SetFile: {
            /** Path */
            path: string;
            /** Name */
            name: string;
        };
        /**
         * SetMade
         * @description A set that was made.
         */
        SetMade: {
            /** Id */
            id: string;
            /** Path */
            path: string;
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
        /**
         * SpanPart
         * @description One bar of the waterfall.
         */
        SpanPart: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "turn" | "agent" | "model" | "tool" | "event";
            /** Name */
            name: string;
            /** Depth */
            depth: number;
            /** Turn */
            turn: number;
            /** Call */
            call: number | null;
            /** Author */
            author: string;
            /** Start */
            start: number | null;
            /** Seconds */
            seconds: number | null;
            /**
             * Timing
             * @enum {string}
             */
            timing: "clock" | "events" | "none";
            /** Failed */
            failed: boolean;
            /** Input Tokens */
            input_tokens: number | null;
            /** Output Tokens */
            output_tokens: number | null;
            request: components["schemas"]["Clip"] | null;
            response: components["schemas"]["Clip"] | null;
        };
        /**
         * SpansPage
         * @description A trial over time.
         */
        SpansPage: {
            /** Run Id */
            run_id: string;
            /** Position */
            position: number;
            /** Number */
            number: number;
            /** Seconds */
            seconds: number | null;
            /** Told */
            told: string;
            /** Spans */
            spans: components["schemas"]["SpanPart"][];
            /** Agents */
            agents: components["schemas"]["AgentPart"][];
        };
        /**
         * StartCase
         * @description A case to choose.
         */
        StartCase: {
            /** Eval Id */
            eval_id: string;
            /** Tags */
            tags: string[];
            /** Says */
            says: string;
        };
        /**
         * StartPage
         * @description What there is to choose from.
         */
        StartPage: {
            /** Sets */
            sets: components["schemas"]["SetFile"][];
            /** Configs */
            configs: string[];
            /** Config */
            config: string | null;
            /** Num Runs */
            num_runs: number;
            /** Concurrency */
            concurrency: number;
            /** Max Cost */
            max_cost: number | null;
        };
        /**
         * StartRun
         * @description A run to be started. What is left out is as the project's settings say, else as `proctor eval` has it.
         */
        StartRun: {
            /** Agent */
            agent: string;
            /** Eval Sets */
            eval_sets?: components["schemas"]["ChosenSet"][];
            /** Failed Of */
            failed_of?: string | null;
            /** Tags */
            tags?: string[];
            /** Limit */
            limit?: number | null;
            /** Config */
            config?: string | null;
            /** Criteria */
            criteria?: {
                [key: string]: unknown;
            } | null;
            /** Metrics */
            metrics?: string[] | null;
            /** Judge */
            judge?: string | null;
            /**
             * No Judge
             * @default false
             */
            no_judge: boolean;
            /** Num Runs */
            num_runs?: number | null;
            /** Concurrency */
            concurrency?: number | null;
            /** Timeout */
            timeout?: number | null;
            /** Retry Errors */
            retry_errors?: number | null;
            /** Max Cost */
            max_cost?: number | null;
            /** Max Judge Calls */
            max_judge_calls?: number | null;
            /** Max Tokens */
            max_tokens?: number | null;
            /** Max Time */
            max_time?: number | null;
            /** Max Failures */
            max_failures?: number | null;
        };
        /**
         * StartSet
         * @description An eval set with its cases.
         */
        StartSet: {
            /** Path */
            path: string;
            /** Eval Set Id */
            eval_set_id: string;
            /** Cases */
            cases: components["schemas"]["StartCase"][];
            /** Problem */
            problem: string;
            /** Config */
            config: string | null;
        };
        /**
         * StatePart
         * @description The final session state.
         */
        StatePart: {
            /** Known */
            known: boolean;
            /** Stated */
            stated: boolean;
            /** Rows */
            rows: components["schemas"]["StateRow"][];
        };
        /**
         * StateRow
         * @description One key of the final session state, or one inside of it.
         */
        StateRow: {
            /** Key */
            key: string;
            kind: components["schemas"]["Kind"] | null;
            expected: components["schemas"]["Clip"] | null;
            actual: components["schemas"]["Clip"] | null;
        };
        /**
         * StepPart
         * @description One step: the expected call, the actual one, or both.
         */
        StepPart: {
            kind: components["schemas"]["Kind"] | null;
            expected: components["schemas"]["Marked"] | null;
            actual: components["schemas"]["Marked"] | null;
            /** Author */
            author: string;
            response: components["schemas"]["Clip"] | null;
            /** Call */
            call: number | null;
        };
        /**
         * ToldPart
         * @description Something with what it is.
         */
        ToldPart: {
            /** Label */
            label: string;
            /** Text */
            text: string;
        };
        /**
         * TrialLine
         * @description One trial in the strip of trials.
         */
        TrialLine: {
            /** Number */
            number: number;
            outcome: components["schemas"]["Outcome"];
            /** Reason */
            reason: string;
            /** Attempts */
            attempts: string[];
        };
        /**
         * TrialPage
         * @description One trial.
         */
        TrialPage: {
            /** Run Id */
            run_id: string;
            /** Position */
            position: number;
            /** Number */
            number: number;
            /** Trials */
            trials: number;
            outcome: components["schemas"]["Outcome"];
            /** Reason */
            reason: string;
            /** Facts */
            facts: string[];
            /** Attempts */
            attempts: string[];
            /** Notes */
            notes: string[];
            /** Kept */
            kept: boolean;
            /** Started At */
            started_at: number | null;
            /** Seconds */
            seconds: number | null;
            /** Session Id */
            session_id: string;
            /** Turns */
            turns: components["schemas"]["TurnPart"][];
            /** Scores */
            scores: components["schemas"]["ScorePart"][];
            state: components["schemas"]["StatePart"];
            failure: components["schemas"]["CausePart"] | null;
            played: components["schemas"]["PlayedPart"] | null;
            /** Command */
            command: string;
        };
        /**
         * TurnPart
         * @description One turn.
         */
        TurnPart: {
            /** Index */
            index: number;
            user: components["schemas"]["Clip"];
            /** Media */
            media: string[];
            /** Steps */
            steps: components["schemas"]["StepPart"][];
            /** Said */
            said: components["schemas"]["SaidPart"][];
            answer: components["schemas"]["AnswerPart"];
            /** Scores */
            scores: components["schemas"]["ScorePart"][];
            usage: components["schemas"]["UsagePart"];
            /** Authors */
            authors: string[];
            /** Notes */
            notes: components["schemas"]["NotePart"][];
            failure: components["schemas"]["CausePart"] | null;
            /** Differs */
            differs: boolean;
        };
        /**
         * UndoName
         * @description What is to be undone.
         */
        UndoName: {
            /** Undo */
            undo: string;
        };
        /**
         * UsagePart
         * @description What a turn took, as far as the agent told.
         */
        UsagePart: {
            /** Seconds */
            seconds: number | null;
            /** Model Seconds */
            model_seconds: number | null;
            /** Tool Seconds */
            tool_seconds: number | null;
            /** Input Tokens */
            input_tokens: number | null;
            /** Output Tokens */
            output_tokens: number | null;
            /** Total Tokens */
            total_tokens: number | null;
            /** Models */
            models: string[];
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
        /**
         * VotePart
         * @description One vote.
         */
        VotePart: {
            /** Verdict */
            verdict: string;
            /** Passes */
            passes: boolean | null;
            /** Said */
            said: components["schemas"]["FindingPart"][];
            rationale: components["schemas"]["Clip"];
            /** Problem */
            problem: string;
            /** Answers */
            answers: components["schemas"]["Clip"][];
            /** Cached */
            cached: boolean;
            /** Cost */
            cost: number | null;
            /** Input Tokens */
            input_tokens: number | null;
            /** Output Tokens */
            output_tokens: number | null;
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
    list_eval_sets: {
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
                    "application/json": components["schemas"]["EvalSetList"];
                };
            };
        };
    };
    create_set: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEvalSet"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetMade"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file says something else by now. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description This is no case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Without If-Match nothing is changed. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    get_eval_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
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
                    "application/json": components["schemas"]["EvalSetPage"];
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
    migrate_eval_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetMade"];
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
    list_eval_cases: {
        parameters: {
            query?: {
                offset?: number;
                limit?: number;
            };
            header?: never;
            path: {
                eval_set: string;
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
                    "application/json": components["schemas"]["EvalCaseList"];
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
    get_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case, whatever characters it has. */
                id: string;
            };
            header?: never;
            path: {
                eval_set: string;
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
                    "application/json": components["schemas"]["EvalCasePage"];
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
    save_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case, whatever characters it has. */
                id: string;
            };
            header?: {
                /** @description The version that was read: its ETag. */
                "if-match"?: string | null;
            };
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CaseDraft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseSaved"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file says something else by now. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description This is no case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Without If-Match nothing is changed. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    add_eval_case: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CaseDraft"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseSaved"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file says something else by now. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description This is no case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Without If-Match nothing is changed. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    remove_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case, whatever characters it has. */
                id: string;
            };
            header?: {
                /** @description The version that was read: its ETag. */
                "if-match"?: string | null;
            };
            path: {
                eval_set: string;
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
                    "application/json": components["schemas"]["CaseRemoved"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file says something else by now. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description This is no case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Without If-Match nothing is changed. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    preview_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case, whatever characters it has. */
                id: string;
            };
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CaseDraft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CasePreview"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file says something else by now. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description This is no case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Without If-Match nothing is changed. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    restore_eval_case: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoName"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetPage"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file says something else by now. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description This is no case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Without If-Match nothing is changed. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
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
    start_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartRun"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Begun"];
                };
            };
            /** @description All that is wrong; nothing was run. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problems"];
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
    get_case: {
        parameters: {
            query?: {
                /** @description Which judging; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The place of the case in its run, from 0. */
                position: number;
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
                    "application/json": components["schemas"]["CasePage"];
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
    get_trial: {
        parameters: {
            query?: {
                /** @description Which judging; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The place of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
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
                    "application/json": components["schemas"]["TrialPage"];
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
    get_spans: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
                /** @description The place of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
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
                    "application/json": components["schemas"]["SpansPage"];
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
    get_judges: {
        parameters: {
            query?: {
                /** @description Which judging; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The place of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
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
                    "application/json": components["schemas"]["JudgesPage"];
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
    get_prompt: {
        parameters: {
            query?: {
                /** @description From 0; without it the trial as a whole. */
                turn?: number | null;
                /** @description Which judging; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The place of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
                metric: string;
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
                    "application/json": components["schemas"]["PromptPage"];
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
    get_evidence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
                /** @description The place of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
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
                    "application/json": unknown;
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
    put_label: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
                /** @description The place of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
                metric: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LabelToPut"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelPart"];
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
    delete_label: {
        parameters: {
            query?: {
                /** @description From 0; without it the trial as a whole. */
                turn?: number | null;
                rubric_id?: string;
            };
            header?: never;
            path: {
                run: string;
                /** @description The place of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
                metric: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
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
    preview_bless: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlessToPreview"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlessPage"];
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
    bless_cases: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the preview. */
                "if-match"?: string | null;
            };
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlessToWrite"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlessedPage"];
                };
            };
            /** @description Comments would be lost. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detail"];
                };
            };
            /** @description A file is not any more what was reviewed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detail"];
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
            /** @description Without If-Match nothing is written. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detail"];
                };
            };
        };
    };
    list_agents: {
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
                    "application/json": components["schemas"]["AgentsPage"];
                };
            };
        };
    };
    list_metrics: {
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
                    "application/json": components["schemas"]["MetricsPage"];
                };
            };
        };
    };
    get_start: {
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
                    "application/json": components["schemas"]["StartPage"];
                };
            };
        };
    };
    get_start_set: {
        parameters: {
            query: {
                path: string;
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
                    "application/json": components["schemas"]["StartSet"];
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
    estimate_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartRun"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EstimatePage"];
                };
            };
            /** @description All that is wrong; nothing was run. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problems"];
                };
            };
        };
    };
}

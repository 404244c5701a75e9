// Command kubelet-validate says what a kubelet of this release thinks of a configuration, without starting one.
//
// It reads lines {"id":ANY,"data":"TEXT OF A CONFIGURATION FILE"} and answers each, in order, by a line
//
//	{"id":ANY,"stage":"ok","errors":[],"lenient":"","config":{...}}
//
// stage is where the kubelet would have given up: decode, gates (an unknown feature gate) or validate; ok means it would go on to start.
// lenient is the strict decoder's complaint about a text that the kubelet accepts all the same, with a warning. config is the decoded
// configuration with every default filled in; it is absent when decoding failed.
//
// What the kubelet does outside of decoding and validation is not done here: command line flags are not merged, and relative paths
// stay relative.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/kubernetes/pkg/features" // registers the feature gates that a kubelet knows
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	utilcodec "k8s.io/kubernetes/pkg/kubelet/kubeletconfig/util/codec"
)

type question struct {
	ID   json.RawMessage `json:"id"`
	Data string          `json:"data"`
}

type answer struct {
	ID      json.RawMessage `json:"id"`
	Stage   string          `json:"stage"`
	Errors  []string        `json:"errors"`
	Lenient string          `json:"lenient"`
	Config  json.RawMessage `json:"config,omitempty"`
}

type oracle struct {
	strict  *serializer.CodecFactory
	encoder runtime.Encoder
}

func newOracle() (*oracle, error) {
	_, strict, err := scheme.NewSchemeAndCodecs(serializer.EnableStrict)
	if err != nil {
		return nil, err
	}
	info, ok := runtime.SerializerInfoForMediaType(strict.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		return nil, fmt.Errorf("there is no JSON serializer")
	}
	return &oracle{strict: strict, encoder: strict.EncoderForVersion(info.Serializer, v1beta1.SchemeGroupVersion)}, nil
}

// decode does what the kubelet's file loader does, and also keeps what that only logs.
func (o *oracle) decode(data []byte) (config *kubeletconfig.KubeletConfiguration, lenient string, err error) {
	if len(data) == 0 {
		return nil, "", fmt.Errorf("kubelet config file was empty")
	}
	object, _, strictErr := o.strict.UniversalDecoder().Decode(data, nil, nil)
	if config, ok := object.(*kubeletconfig.KubeletConfiguration); ok && strictErr == nil {
		return config, "", nil
	}
	// The kubelet's own function decides what happens next: give up, or decode once more without strictness.
	config, err = utilcodec.DecodeKubeletConfiguration(o.strict, data)
	if err == nil && strictErr != nil {
		lenient = strictErr.Error()
	}
	return config, lenient, err
}

func (o *oracle) ask(q question) (a answer) {
	a = answer{ID: q.ID, Stage: "decode", Errors: []string{}}
	// A text that makes the kubelet's code panic is worth an answer; without one the questions behind it would get none either.
	defer func() {
		if r := recover(); r != nil {
			a.Errors = append(a.Errors, fmt.Sprintf("panic: %v", r))
		}
	}()

	config, lenient, err := o.decode([]byte(q.Data))
	a.Lenient = lenient
	if err != nil {
		a.Errors = append(a.Errors, err.Error())
		return a
	}
	encoded, err := runtime.Encode(o.encoder, config)
	if err != nil {
		a.Errors = append(a.Errors, "cannot encode what was decoded: "+err.Error())
		return a
	}
	a.Config = encoded

	// On a copy: gates of one configuration must not be seen by the next.
	a.Stage = "gates"
	if err := utilfeature.DefaultFeatureGate.DeepCopy().SetFromMap(config.FeatureGates); err != nil {
		a.Errors = append(a.Errors, err.Error())
		return a
	}

	a.Stage = "validate"
	if err := validation.ValidateKubeletConfiguration(config); err != nil {
		a.Errors = append(a.Errors, each(err)...)
		return a
	}
	a.Stage = "ok"
	return a
}

func each(err error) []string {
	aggregate, ok := err.(utilerrors.Aggregate)
	if !ok {
		return []string{err.Error()}
	}
	var texts []string
	for _, one := range aggregate.Errors() {
		texts = append(texts, one.Error())
	}
	return texts
}

func serve(in io.Reader, out io.Writer) error {
	o, err := newOracle()
	if err != nil {
		return err
	}
	reader := bufio.NewReaderSize(in, 1<<20)
	writer := bufio.NewWriterSize(out, 1<<20)
	answers := json.NewEncoder(writer)
	answers.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return writer.Flush()
		}
		if err != nil && err != io.EOF {
			return err
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("this is not a question: %v", err)
		}
		if err := answers.Encode(o.ask(q)); err != nil {
			return err
		}
		// Somebody who sent one question and waits must get the answer; somebody who sent many gets them in few writes.
		if reader.Buffered() == 0 {
			if err := writer.Flush(); err != nil {
				return err
			}
		}
	}
}

func main() {
	// The kubelet's code logs a warning for each lenient text. Its log flags have to keep their defaults, as the validation of
	// logging.format looks at them, so the way to silence it is to take the file away.
	stderr := os.Stderr
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(stderr, "kubelet-validate:", err)
		os.Exit(1)
	}
}
